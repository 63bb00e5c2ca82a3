/** The steps from a fresh device to a working one, in order; the device page shows them and each change is logged. */
export const STEPS = {
  hubFound: 'Hub found',
  registered: 'Registered',
  approved: 'Approved',
  tunnelUp: 'Tunnel up',
  heartbeat: 'Heartbeat acknowledged',
} as const

export type Step = keyof typeof STEPS

export type Condition = {
  step: Step
  label: string
  /** `waiting`: for an earlier step, a person, or an answer. */
  state: 'waiting' | 'done' | 'failed'
  /** When this condition last changed; for the heartbeat, when it was last confirmed. Null at first. */
  at: string | null
  /** One sentence: the result, the awaited event, or the error. */
  detail: string
}

export type Conditions = {
  done(step: Step, detail: string): void
  waiting(step: Step, detail: string): void
  failed(step: Step, detail: string): void
  conditions(): Condition[]
}

/** `onChange` is called when a condition's state or sentence changes, not when it is confirmed. */
export function createConditions(onChange: (condition: Condition) => void, now: () => number = Date.now): Conditions {
  const conditions = new Map<Step, Condition>()
  for (const [step, label] of Object.entries(STEPS))
    conditions.set(step as Step, { step: step as Step, label, state: 'waiting', at: null, detail: '' })

  function set(step: Step, state: Condition['state'], detail: string): void {
    const before = conditions.get(step)!
    const isChange = before.state !== state || before.detail !== detail
    if (!isChange && step !== 'heartbeat') return
    const condition = { ...before, state, detail, at: new Date(now()).toISOString() }
    conditions.set(step, condition)
    if (isChange) onChange(condition)
  }
  return {
    done: (step, detail) => set(step, 'done', detail),
    waiting: (step, detail) => set(step, 'waiting', detail),
    failed: (step, detail) => set(step, 'failed', detail),
    conditions: () => [...conditions.values()],
  }
}
