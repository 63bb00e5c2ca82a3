/** Which blocks of code ran, as V8 counts them: the feedback that tells the fuzzer which inputs are worth keeping. */

import { Session } from 'node:inspector/promises'

export type Coverage = {
  /** The blocks that ran since the last call. */
  take(): Promise<string[]>
}

export async function openCoverage(isOurs: (url: string) => boolean): Promise<Coverage> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const reached: string[] = []
      for (const { url, functions } of result) {
        if (!isOurs(url)) continue
        for (const { ranges } of functions) {
          for (const { count, startOffset, endOffset } of ranges) {
            if (count > 0) reached.push(`${url}:${startOffset}-${endOffset}`)
          }
        }
      }
      return reached
    },
  }
}
