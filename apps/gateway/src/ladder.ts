/** The steps from a fresh device to a working one, in order; the device page shows them and the log tells each change. */
export const STEPS = {
  hubFound: 'Hub found',
  registered: 'Registered',
  approved: 'Approved',
  tunnelUp: 'Tunnel up',
  heartbeat: 'Heartbeat acknowledged',
} as const

export type Step = keyof typeof STEPS

export type Rung = {
  step: Step
  label: string
  /** `waiting`: for an earlier step, for a person, or for an answer under way. */
  state: 'waiting' | 'done' | 'failed'
  /** When this rung last changed, or was last confirmed; null before anything happened. */
  at: string | null
  /** One sentence: what was reached, what is awaited, or what went wrong. */
  detail: string
}

export type Ladder = {
  done(step: Step, detail: string): void
  waiting(step: Step, detail: string): void
  failed(step: Step, detail: string): void
  rungs(): Rung[]
}

/** `onChange` is called when a rung's state or sentence changes, not when it is merely confirmed. */
export function createLadder(onChange: (rung: Rung) => void, now: () => number = Date.now): Ladder {
  const rungs = new Map<Step, Rung>()
  for (const [step, label] of Object.entries(STEPS))
    rungs.set(step as Step, { step: step as Step, label, state: 'waiting', at: null, detail: '' })

  function set(step: Step, state: Rung['state'], detail: string): void {
    const before = rungs.get(step)!
    const rung = { ...before, state, detail, at: new Date(now()).toISOString() }
    rungs.set(step, rung)
    if (before.state !== state || before.detail !== detail) onChange(rung)
  }
  return {
    done: (step, detail) => set(step, 'done', detail),
    waiting: (step, detail) => set(step, 'waiting', detail),
    failed: (step, detail) => set(step, 'failed', detail),
    rungs: () => [...rungs.values()],
  }
}
