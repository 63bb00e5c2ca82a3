import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '@hedgerow/client'

/** Repeats a call that the limit of a person's writing calls refused. */
export async function patiently(call: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await call()
      return
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 429) throw error
      await sleep(1_000)
    }
}
