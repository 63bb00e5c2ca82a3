import { setFlagsFromString } from 'node:v8'
import { afterAll, beforeAll } from 'vitest'

/** Lets V8's last compiler serve a file whose tests compute for seconds, as those who train and draw do. */
export function useLastCompiler(): void {
  beforeAll(() => setFlagsFromString('--turbofan'))
  afterAll(() => setFlagsFromString('--no-turbofan'))
}
