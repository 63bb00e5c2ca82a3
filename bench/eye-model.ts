/**
 * The eye with a model of YOLOX-Nano's size: pictures a second through motion, model and tracker, as the gateway runs
 * them, and Python's OpenCV on the same graph where Debian's python3-opencv is installed.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createMotionDetector, lumaOf, Tracker } from '@hedgerow/vision'
import { createRenderer, scenes } from '@hedgerow/vision/rendered'
import { openModel } from '../apps/gateway/src/models/model.ts'
import { bytesPath, manifestPath } from '../apps/gateway/src/models/store.ts'
import { yoloxNanoSized } from '../test/harness/onnx/yolox-nano.ts'
import { report } from './report.ts'

const SIZE = { width: 416, height: 416 }
const THREADS = availableParallelism()
const WARM_UP = 20
const PICTURES = 300
const run = promisify(execFile)

/** Returns the ratio that has a goal. */
export async function benchEyeModel(): Promise<Record<string, number | undefined>> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-eye-'))
  try {
    const { bytes, weights } = yoloxNanoSized()
    const file = await putModel(folder, bytes)
    const ours = await picturesASecond(folder)
    const beside = await openCv(file)
    const rows: Record<string, Record<string, string | number>> = {
      'motion, model and tracker': { 'pictures a second': ours.toFixed(1) },
    }
    if (typeof beside === 'number') {
      rows['OpenCV alone, same graph'] = { 'pictures a second': beside.toFixed(1) }
      rows['ours to OpenCV'] = { 'pictures a second': (ours / beside).toFixed(2) }
    } else console.log(`OpenCV: ${beside}`)
    report(`eye, a model of ${(weights / 1e6).toFixed(2)} million weights, 416 x 416, ${THREADS} threads`, rows)
    return { "a model: pictures a second to OpenCV's": typeof beside === 'number' ? ours / beside : undefined }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function putModel(folder: string, bytes: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const manifest = { name: 'drawn', sha256, licence: { name: 'MIT' }, layout: 'yolox', size: SIZE, labels: 'coco80' }
  const file = bytesPath(folder, { sha256 })
  await writeFile(file, bytes)
  await writeFile(manifestPath(folder, 'drawn'), JSON.stringify(manifest))
  return file
}

/** Works as the eye does: motion looks at the next picture while the model looks at the one before. */
async function picturesASecond(folder: string): Promise<number> {
  const renderer = createRenderer(scenes[0]!, SIZE.width, SIZE.height)
  const pictures = Array.from({ length: 50 }, (_, i) => renderer.render(5_000 + i * 33).image)
  const log = { info: () => {}, error: () => {} }
  const model = openModel({ folder, name: 'drawn', threads: THREADS, leastScore: 0.1, log })
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3 })
  try {
    let startedAt = 0
    let before: ReturnType<typeof model.look> = Promise.resolve([])
    for (let i = 0; i < WARM_UP + PICTURES; i++) {
      if (i === WARM_UP) startedAt = performance.now()
      const picture = pictures[i % pictures.length]!
      motion.detect(lumaOf(picture), i * 33)
      const seen = await before
      if (!seen) throw new Error(model.problems().join(' ') || 'the model did not look')
      tracker.update(seen[0]!, i * 33)
      before = model.look('bench', [picture])
    }
    await before
    return (PICTURES * 1_000) / (performance.now() - startedAt)
  } finally {
    await model.stop()
  }
}

const OPENCV = `
import sys, time, cv2, numpy
cv2.setNumThreads(${THREADS})
net = cv2.dnn.readNetFromONNX(sys.argv[1])
picture = numpy.full((416, 416, 3), 114, numpy.uint8)
def look():
    net.setInput(cv2.dnn.blobFromImage(picture))
    net.forward()
for _ in range(${WARM_UP}): look()
begin = time.perf_counter()
for _ in range(${PICTURES}): look()
print(${PICTURES} / (time.perf_counter() - begin))
`

/** Pictures a second of OpenCV's DNN module, or the reason why there are none. */
async function openCv(file: string): Promise<number | string> {
  try {
    const { stdout } = await run('/usr/bin/python3', ['-c', OPENCV, file])
    return Number(stdout)
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
    return words.trim().split('\n').at(-1) ?? 'it failed'
  }
}
