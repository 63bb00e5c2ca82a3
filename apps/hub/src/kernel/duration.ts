const UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
] as const

/** `20 s`, `9 min`, `3 h`, `2 d`; never negative, even when a clock was set back. */
export function duration(ms: number): string {
  const found = UNITS.find((unit) => ms >= unit.ms)
  return found ? `${Math.floor(ms / found.ms)} ${found.unit}` : `${Math.max(0, Math.floor(ms / 1_000))} s`
}
