import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { askTwice } from './ask-twice.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Answers in order; an Error is thrown. Counts the questions. */
function hubThat(...answers: (string | Error)[]) {
  const asked = { times: 0 }
  const ask = async () => {
    const answer = answers[asked.times++]
    if (answer instanceof Error) throw answer
    return answer
  }
  return { ask, asked }
}

const silence = new Error('no answer')
const refusal = new Error('refused')
const isUndecided = (error: unknown) => error === silence

test('a first question without a decision is followed by a second one', async () => {
  const { ask, asked } = hubThat(silence, 'walker')
  const answer = askTwice(ask, isUndecided)
  await vi.runAllTimersAsync()
  expect(await answer).toBe('walker')
  expect(asked.times).toBe(2)
})

test('a refusal is not asked about again', async () => {
  const { ask, asked } = hubThat(refusal, 'walker')
  await expect(askTwice(ask, isUndecided)).rejects.toBe(refusal)
  expect(asked.times).toBe(1)
})

test('after two questions without a decision nothing is decided while timers stand still', async () => {
  const { ask, asked } = hubThat(silence, silence)
  const outcome = vi.fn<(error: unknown) => void>()
  askTwice(ask, isUndecided).catch(outcome)
  await vi.advanceTimersToNextTimerAsync()
  await vi.waitFor(() => expect(asked.times).toBe(2))
  expect(outcome).not.toHaveBeenCalled()
  await vi.runAllTimersAsync()
  expect(outcome).toHaveBeenCalledExactlyOnceWith(silence)
})
