"""onnxruntime: a session per work, all graph optimizations, inputs and outputs bound to fixed memory."""

import numpy as np
import onnxruntime as ort

import graphs
from peers.base import Call, Unsupported


class OnnxRuntime:
    def __init__(self, threads):
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        self.options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.options.log_severity_level = 3
        if threads > 1:  # the calling thread is not in the list; processors count from 1
            self.options.add_session_config_entry("session.intra_op_thread_affinities",
                                                  ";".join(str(i + 1) for i in range(1, threads)))

    def version(self):
        return ort.__version__

    def prepare(self, work):
        found, reason = False, None
        for graph in graphs.onnx_forms(work):
            try:
                session = ort.InferenceSession(graph.model, self.options, providers=["CPUExecutionProvider"])
                yield self.bind(session, graph, work)
                found = True
            except Exception as error:
                reason = error
        if not found:
            raise Unsupported(f"no form of the graph ran: {reason}")

    @staticmethod
    def bind(session, graph, work):
        binding = session.io_binding()
        keep = []
        for name, array in graph.inputs.items():
            value = ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))
            keep.append((array, value))
            binding.bind_ortvalue_input(name, value)
        outputs = {}
        for output in session.get_outputs():
            if output.name in graph.outputs:
                shape = graph.outputs[output.name]
                outputs[output.name] = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
                binding.bind_ortvalue_output(output.name, outputs[output.name])
            else:
                binding.bind_output(output.name)
        run = lambda: session.run_with_iobinding(binding)  # noqa: E731
        run()
        return Call(run, lambda: (keep, graph.read({name: value.numpy() for name, value in outputs.items()}))[1],
                    graph.how)
