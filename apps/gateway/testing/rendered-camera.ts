import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createRenderer, type RenderedFrame, type Scene, type Truth } from '@hedgerow/vision/rendered'
import { encodeJpeg } from '../src/cameras/decode.ts'

/** A camera that sends a rendered scene as real cameras do: as MJPEG or as a snapshot. */
export type RenderedCamera = {
  readonly mjpegUrl: string
  readonly snapshotUrl: string
  /** The objects in the newest picture. */
  truth(): readonly Truth[]
  stop(): Promise<void>
}

const BOUNDARY = 'rendered'

/** A scene of figures. */
export async function startRenderedCamera(
  scene: Scene,
  { width = 640, height = 360, framesPerSecond = 5 } = {},
): Promise<RenderedCamera> {
  const { render } = createRenderer(scene, width, height)
  return startDrawnCamera(render, { durationMs: scene.durationMs, framesPerSecond })
}

/** What `draw` draws begins when the first viewer comes, and again when it is over; each picture is drawn once. */
export async function startDrawnCamera(
  draw: (atMs: number) => RenderedFrame,
  { durationMs, framesPerSecond }: { durationMs: number; framesPerSecond: number },
): Promise<RenderedCamera> {
  let beganAt: number | undefined
  let truth: readonly Truth[] = []
  const drawn = new Map<number, { jpeg: Buffer; truth: readonly Truth[] }>()

  async function nextJpeg(): Promise<Buffer> {
    beganAt ??= performance.now()
    const atMs = (performance.now() - beganAt) % durationMs
    const step = Math.floor((atMs * framesPerSecond) / 1_000)
    let picture = drawn.get(step)
    if (!picture) {
      const frame = draw((step * 1_000) / framesPerSecond)
      picture = { jpeg: await encodeJpeg(frame.image), truth: frame.truth }
      drawn.set(step, picture)
    }
    truth = picture.truth
    return picture.jpeg
  }

  async function stream(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': `multipart/x-mixed-replace; boundary=${BOUNDARY}` })
    while (!response.destroyed) {
      const jpeg = await nextJpeg()
      response.write(`--${BOUNDARY}\r\ncontent-type: image/jpeg\r\ncontent-length: ${jpeg.length}\r\n\r\n`)
      response.write(jpeg)
      response.write('\r\n')
      await delay(1_000 / framesPerSecond)
    }
  }

  const server: Server = createServer((request, response) => {
    response.on('error', () => {})
    if (request.url === '/mjpeg') void stream(response)
    else
      void nextJpeg().then((jpeg) => {
        response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': jpeg.length })
        response.end(jpeg)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    mjpegUrl: `http://127.0.0.1:${port}/mjpeg`,
    snapshotUrl: `http://127.0.0.1:${port}/snapshot.jpg`,
    truth: () => truth,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
