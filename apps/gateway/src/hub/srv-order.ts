type Weighted = { priority: number; weight: number }

/**
 * RFC 2782: lower priorities first; within one, a weighted draw without replacement. Records of weight 0 come first in
 * each draw, so that they have a small chance. `random` gives numbers in [0, 1).
 */
export function orderTargets<T extends Weighted>(records: readonly T[], random: () => number): T[] {
  const ordered: T[] = []
  for (const priority of [...new Set(records.map((record) => record.priority))].sort((a, b) => a - b)) {
    const left = records.filter((record) => record.priority === priority)
    left.sort((a, b) => Number(a.weight > 0) - Number(b.weight > 0))
    while (left.length > 0) ordered.push(...left.splice(draw(left, random), 1))
  }
  return ordered
}

/** The first record whose running sum of weights reaches a number drawn from 0 to the whole sum, both included. */
function draw(records: readonly Weighted[], random: () => number): number {
  const sum = records.reduce((total, record) => total + record.weight, 0)
  const mark = Math.floor(random() * (sum + 1))
  let running = 0
  return records.findIndex((record) => (running += record.weight) >= mark)
}
