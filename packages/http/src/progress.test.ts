import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bytesInWords, openProgress } from './progress.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

function terminal(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, columns: 30, write: (text: string) => written.push(text), written }
}

test('at a terminal one line is written again and again, never longer than it, and cleared at the end', async () => {
  const screen = terminal(true)
  const progress = openProgress(undefined, screen)
  const work = Promise.withResolvers<string>()
  const done = progress.during('Copying', (seconds) => `${seconds} s`, work.promise)
  vi.advanceTimersByTime(1_000)
  work.resolve('made')
  expect(await done).toBe('made')
  vi.advanceTimersByTime(60_000)
  progress.show('Something with a name of many words', bytesInWords(5))
  progress.end()
  progress.end()
  const clear = '\r\u001b[2K'
  expect(screen.written).toEqual([
    `${clear}Copying: 0 s`,
    `${clear}Copying: 1 s`,
    `${clear}Copying: 1 s`,
    `${clear}Something with a name of many`,
    clear,
  ])
})

test('elsewhere a line comes every ten seconds, and none for a short task or one that failed at once', async () => {
  const file = terminal(false)
  const progress = openProgress(undefined, file)
  for (let second = 0; second < 25; second++) {
    progress.show('Fetching', bytesInWords(second * 1e6, 99e6))
    vi.advanceTimersByTime(1_000)
  }
  progress.end()
  expect(file.written).toEqual(['Fetching: 10.0 of 99.0 MB\n', 'Fetching: 20.0 of 99.0 MB\n'])
  const lines: string[] = []
  const logged = openProgress((line) => lines.push(line), terminal(false))
  await expect(logged.during('Copying', String, Promise.reject(new Error('no')))).rejects.toThrow('no')
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
  logged.show('Migrating', 'step 2 of 3')
  expect(lines).toEqual(['Migrating: step 2 of 3'])
})
