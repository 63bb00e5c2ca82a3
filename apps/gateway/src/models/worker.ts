/** The thread of one model: opens it, then processes the pictures that it is sent. */
import { parentPort, workerData } from 'node:worker_threads'
import type { RgbImage } from '@hedgerow/vision'
import { ModelError } from './model-error.ts'
import { openSession, type Session } from './session.ts'
import { CLOSE, type FromModelWorker, type ModelWorkerData, type ToModelWorker } from './worker-messages.ts'

const port = parentPort!
const { leastScore, ...options } = workerData as ModelWorkerData

const send = (message: FromModelWorker) => port.postMessage(message)

function sendFailure(error: unknown): void {
  const isOurs = error instanceof ModelError
  send({
    kind: 'failed',
    code: isOurs ? error.code : 'model_failed',
    message: isOurs ? error.message : `The model ${options.manifest.name} failed: ${String(error).slice(0, 120)}`,
  })
}

async function look(session: Session, pictures: readonly RgbImage[]): Promise<void> {
  const startedAt = performance.now()
  try {
    const found = await session.look(pictures, leastScore)
    send({ kind: 'found', found, ms: (performance.now() - startedAt) / pictures.length })
  } catch (error) {
    sendFailure(error)
  }
}

try {
  const session = await openSession(options)
  let turn = Promise.resolve()
  port.on('message', (message: ToModelWorker) => {
    if (message === CLOSE) void turn.then(() => session.close()).finally(() => port.close())
    else turn = turn.then(() => look(session, message))
  })
  const { takesSeveral, executionProvider, refusals } = session
  send({ kind: 'ready', takesSeveral, executionProvider, refusals })
} catch (error) {
  sendFailure(error)
  port.close()
}
