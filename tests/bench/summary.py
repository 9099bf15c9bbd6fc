"""What the rows of a run say together."""

import math

OWN = ("heed", "heed.static", "heed.unfused")


def best_rival(rows):
    """Of the rows of one work, that of the fastest peer that is not heed."""
    rivals = [row for row in rows if row["peer"] not in OWN and "times_of_heed" in row]
    return min(rivals, key=lambda row: row["median_s"], default=None)


def verdict(rows):
    rival = best_rival(rows)
    return f"{rival['times_of_heed']:.2f} {rival['min_times_of_heed']:.2f} {rival['peer']}" if rival else ""


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_all(rows):
    works = {}
    for row in rows:
        if "percent_of_limit" in row:
            works.setdefault((row["work"], row["threads"]), []).append(row)
    print_groups(works)
    print_scaling(works)
    print_forms(works)
    for row in rows:
        if row.get("peer") == "heed" and row.get("work") == "minilm b1 s512" and "workspace_bytes" in row:
            print(f"Workspace of MiniLM at 512 tokens on {row['threads']} threads: "
                  f"{row['workspace_bytes'] / 1e6:.2f} MB")


def print_groups(works):
    """Geometric means over a group: how much longer the best peer takes, and where heed is behind."""
    groups = {}
    for (work, threads), rows in works.items():
        rival = best_rival(rows)
        if rival:
            groups.setdefault((work.split()[0], threads), []).append(rival)
    if groups:
        print("\nTime of the best peer over heed's")
    for (group, threads), rivals in groups.items():
        ratios = [row["times_of_heed"] for row in rivals]
        behind = sum(ratio < 0.98 for ratio in ratios)
        print(f"  {group:<10}{threads} thread{'s' if threads > 1 else ' '}  mean {geometric_mean(ratios):5.2f}, "
              f"least {min(ratios):5.2f}, behind on {behind} of {len(ratios)}")


def print_scaling(works):
    """Where a second thread gives heed less than it should."""
    for (work, threads), rows in works.items():
        one = {row["peer"]: row for row in works.get((work, 1), [])}.get("heed")
        two = {row["peer"]: row for row in rows}.get("heed")
        if threads != 2 or not one or not two or "gflops" not in one:
            continue
        flops, gain = one["gflops"] * 1e9 * one["median_s"], one["median_s"] / two["median_s"]
        wanted = 1.9 if flops > 200e6 else 1.7 if flops > 20e6 else 0
        if gain < wanted:
            print(f"  two threads over one: {work}: {gain:.2f}, wanted {wanted}")


def print_forms(works):
    """Where knowing less, or fusing, costs more than 5 %."""
    for (work, threads), rows in works.items():
        for row in rows:
            if row["peer"] in OWN[1:] and row.get("times_of_heed", 1) < 0.95:
                print(f"  slower than {row['peer']}: {work}, {threads} threads: {1 / row['times_of_heed']:.2f} times")
