import { describe, expect, it } from 'vitest'
import { createWaiters } from './waiters.ts'

describe('waiters', () => {
  const long = () => ({ timeoutMs: 60_000, signal: new AbortController().signal })

  it('end an older request when a newer one of the same registration comes, and no other', async () => {
    const waiters = createWaiters()
    const freed: string[] = []
    const older = waiters.wait('barn', long()).then(() => freed.push('older'))
    const other = waiters.wait('shed', long()).then(() => freed.push('other'))
    const newer = waiters.wait('barn', long()).then(() => freed.push('newer'))
    await older
    expect(freed).toEqual(['older'])
    waiters.wake('barn')
    await newer
    expect(freed).toEqual(['older', 'newer'])
    waiters.close()
    await other
  })

  it('hold no request after they are closed', async () => {
    const waiters = createWaiters()
    const held = waiters.wait('barn', long())
    waiters.close()
    await held
    await waiters.wait('barn', long())
    expect(waiters.isClosed).toBe(true)
  })
})
