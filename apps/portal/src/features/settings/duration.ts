const UNITS = [
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const

/**
 * Typed seconds in a larger unit, in parentheses: ` (1 hour)`. Empty if they are not a whole number of any unit. Pure.
 */
export function duration(typed: string): string {
  if (!/^\s*\d+\s*$/.test(typed)) return ''
  const seconds = Number(typed)
  const [length, unit] = UNITS.find(([one]) => seconds >= one && seconds % one === 0) ?? []
  if (length === undefined) return ''
  const count = seconds / length
  return ` (${count} ${count === 1 ? unit : `${unit}s`})`
}
