/** The messages between a device and the thread of its model. */
import type { RgbImage } from '@hedgerow/vision'
import type { ModelErrorCode } from './model-error.ts'
import type { FeaturedCandidate, Session, SessionOptions } from './session.ts'

export type ModelWorkerData = SessionOptions & { leastScore: number }
/** Ends the thread. */
export const CLOSE = 'close'
export type ToModelWorker = readonly RgbImage[] | typeof CLOSE
export type FromModelWorker =
  | ({ kind: 'ready' } & Pick<Session, 'takesSeveral' | 'executionProvider' | 'refusals'>)
  /** `ms` is for each picture. */
  | { kind: 'found'; found: FeaturedCandidate[][]; ms: number }
  | { kind: 'failed'; code: ModelErrorCode; message: string }
