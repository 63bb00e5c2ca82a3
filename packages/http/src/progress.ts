/**
 * Shows people how far a long task is, on standard error: at a terminal one line that is written again and again,
 * elsewhere a line every ten seconds, so that a short task says nothing.
 */
export type Progress = {
  /** What happens, and how far it is. */
  show(what: string, how?: string): void
  /** Asks `how` again and again while `work` runs. */
  during<T>(what: string, how: (seconds: number) => string, work: Promise<T>): Promise<T>
  /** Call it before anything else is written. */
  end(): void
}

export const NO_PROGRESS: Progress = { show() {}, during: (_what, _how, work) => work, end() {} }

const LINE_EVERY_MS = 10_000
const LOOK_EVERY_MS = 500
const CLEARED = '\r\u001b[2K'

/** `line`: instead of plain lines on standard error. */
export function openProgress(
  line?: (text: string) => void,
  terminal: { isTTY?: boolean; columns?: number; write(text: string): unknown } = process.stderr,
): Progress {
  let printedAt = performance.now()
  let isDrawn = false
  const say = line ?? ((text) => void terminal.write(`${text}\n`))

  function show(what: string, how = ''): void {
    const text = how === '' ? `${what} …` : `${what}: ${how}`
    if (terminal.isTTY) {
      isDrawn = true
      terminal.write(CLEARED + text.slice(0, (terminal.columns || 80) - 1))
    } else if (performance.now() - printedAt >= LINE_EVERY_MS) {
      printedAt = performance.now()
      say(text)
    }
  }

  return {
    show,
    async during(what, how, work) {
      const begunAt = performance.now()
      const look = () => show(what, how(Math.round((performance.now() - begunAt) / 1_000)))
      look()
      const timer = setInterval(look, LOOK_EVERY_MS)
      try {
        return await work
      } finally {
        clearInterval(timer)
      }
    },
    end() {
      if (isDrawn) terminal.write(CLEARED)
      isDrawn = false
    },
  }
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

/** `12.3 of 45.6 MB`; what is there may outgrow an estimate. */
export function bytesInWords(done: number, total = 0): string {
  return total > done ? `${megabytes(done)} of ${megabytes(total)} MB` : `${megabytes(done)} MB`
}
