/** One model in ONNX Runtime: checked when it is opened; finds the objects in pictures. Runs in a worker. */
import {
  drawLetterboxed,
  FEATURES,
  LayoutError,
  layouts,
  letterboxOf,
  pooled,
  readOutputs,
  toTarget,
  toTensor,
  type Candidate,
  type Layout,
  type RgbImage,
  type Tensor,
} from '@hedgerow/vision'
import type * as OnnxRuntime from 'onnxruntime-node'
import { ModelError } from './model-error.ts'
import type { ModelManifest } from './manifest.ts'
import type { ExecutionProvider } from './schema.ts'

type Runtime = typeof OnnxRuntime
type InferenceSession = OnnxRuntime.InferenceSession

/** The surest objects of a picture have features. */
const FEATURED_MAX = 16
const WHOLE = { x: 0, y: 0, width: 1, height: 1 }

export type SessionOptions = {
  bytes: Uint8Array<ArrayBuffer>
  manifest: Pick<ModelManifest, 'name' | 'layout' | 'size'>
  /** How many classes the manifest has labels for. */
  classes: number
  /** Processor threads for one picture. */
  threads: number
  /** The first one that opens the model is used; the processor when left out. */
  executionProviders?: readonly ExecutionProvider[] | undefined
}

/** `features`: of the surest ones, where the model gives out its last map. */
export type FeaturedCandidate = Candidate & { readonly features?: Float32Array }

export type Session = {
  readonly executionProvider: ExecutionProvider
  /** In words, why the ones before it did not open. */
  readonly refusals: readonly string[]
  /** Whether several pictures go through the model at once. */
  readonly takesSeveral: boolean
  /** How many features each object comes with, from which names are learned; 0 for a model without them. */
  readonly features: number
  /** The objects in each picture, boxes in shares of it. Throws ModelError. */
  look(pictures: readonly RgbImage[], leastScore: number): Promise<FeaturedCandidate[][]>
  close(): Promise<void>
}

/** Throws ModelError for a file that is no model, or not the one that its manifest describes. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const runtime = await loadRuntime()
  const refusals: string[] = []
  for (const executionProvider of options.executionProviders ?? (['cpu'] as const)) {
    try {
      return { ...(await openWith(executionProvider, options, runtime)), executionProvider, refusals }
    } catch (error) {
      if (executionProvider === 'cpu') throw error
      refusals.push(`${executionProvider}: ${firstLine(error)}`)
    }
  }
  throw new ModelError('provider_missing', `No execution provider opens here. ${refusals.join('; ')}`)
}

async function openWith(executionProvider: ExecutionProvider, options: SessionOptions, runtime: Runtime) {
  const { bytes, manifest, classes, threads } = options
  const layout: Layout = layouts[manifest.layout]
  let session: InferenceSession
  try {
    session = await runtime.InferenceSession.create(bytes, {
      executionProviders: [executionProvider],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
      // Spinning threads take the cores from motion, video and everything else.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    })
  } catch (error) {
    if (executionProvider !== 'cpu') throw error
    throw new ModelError(
      'model_unreadable',
      `The file of the model ${manifest.name} is no ONNX model: ${firstLine(error)}`,
    )
  }
  try {
    const { input, takesSeveral } = checkInput(session, manifest)
    const own = outputNames(session, layout, manifest.name)
    const outputs = session.outputNames.includes(FEATURES) ? [...own, FEATURES] : own
    const runner = { runtime, session, layout, input, outputs, manifest }
    const features = await rehearse(runner, takesSeveral, classes)
    return {
      takesSeveral,
      features,
      look: (pictures: readonly RgbImage[], leastScore: number) => look(runner, takesSeveral, pictures, leastScore),
      close: () => session.release(),
    }
  } catch (error) {
    await session.release()
    throw error
  }
}

async function loadRuntime(): Promise<Runtime> {
  try {
    return await import('onnxruntime-node')
  } catch {
    throw new ModelError(
      'runtime_missing',
      'Models need the package onnxruntime-node, which is not installed here: npm install --include=optional',
    )
  }
}

type Runner = {
  runtime: Runtime
  session: InferenceSession
  layout: Layout
  input: string
  outputs: readonly string[]
  manifest: SessionOptions['manifest']
}

function checkInput(session: InferenceSession, { name, size }: SessionOptions['manifest']) {
  const [input, ...others] = session.inputMetadata
  const wrong = (what: string) => new ModelError('model_shape', `The model ${name} ${what}.`)
  if (!input || others.length > 0) throw wrong(`takes ${session.inputMetadata.length} inputs, not one picture`)
  if (!input.isTensor || input.type !== 'float32') throw wrong('does not take 32-bit numbers')
  const shape = input.shape
  const wanted = [1, 3, size.height, size.width]
  const isOpen = (length: number | string | undefined) => typeof length !== 'number' || length < 0
  const fits = shape.length === 4 && shape.every((length, axis) => isOpen(length) || length === wanted[axis])
  if (!fits) throw wrong(`takes [${shape.join(', ')}], and its manifest says [${wanted.join(', ')}]`)
  return { input: input.name, takesSeveral: isOpen(shape[0]) }
}

/** By the layout's names where the model has them, else the first ones in the model's order. */
function outputNames({ outputNames: names }: InferenceSession, layout: Layout, name: string): readonly string[] {
  if (layout.outputs.every((wanted) => names.includes(wanted))) return layout.outputs
  if (names.length < layout.outputs.length)
    throw new ModelError('model_shape', `The model ${name} has ${names.length} outputs, not ${layout.outputs.length}.`)
  return names.slice(0, layout.outputs.length)
}

/** Runs a grey picture, so that wrong outputs are found when the model is opened. Returns the number of features. */
async function rehearse(runner: Runner, takesSeveral: boolean, classes: number): Promise<number> {
  const { size, name } = runner.manifest
  const data = new Uint8Array(size.width * size.height * 3).fill(114)
  const grey = { ...size, stride: size.width * 3, data }
  try {
    // Also finds models whose batch size is open but that accept only one picture.
    const pictures = takesSeveral ? [grey, grey] : [grey]
    const [outputs] = await outputsOf(
      runner,
      takesSeveral,
      pictures.map((picture) => inputOf(runner, picture)),
    )
    const found = runner.layout.classes(outputs!)
    if (found !== classes)
      throw new ModelError('model_shape', `The model ${name} has ${found} classes, and its manifest ${classes} labels.`)
    runner.layout.decode(outputs!, size, 0.5)
    const map = outputs![runner.layout.outputs.length]
    return map ? pooled(map, WHOLE).length : 0
  } catch (error) {
    throw inWords(error, name)
  }
}

async function look(
  runner: Runner,
  takesSeveral: boolean,
  pictures: readonly RgbImage[],
  leastScore: number,
): Promise<FeaturedCandidate[][]> {
  const { layout, manifest } = runner
  try {
    const all = await outputsOf(
      runner,
      takesSeveral,
      pictures.map((picture) => inputOf(runner, picture)),
    )
    return all.map((outputs, i) => {
      const letterbox = letterboxOf(pictures[i]!, manifest.size, layout.fit)
      const found = readOutputs(layout, outputs, letterbox, leastScore)
      const map = outputs[layout.outputs.length]
      if (!map) return found
      return found.map((one, place) =>
        place < FEATURED_MAX ? { ...one, features: pooled(map, toTarget(letterbox, one.box)) } : one,
      )
    })
  } catch (error) {
    throw inWords(error, manifest.name)
  }
}

function inputOf({ layout, manifest }: Runner, picture: RgbImage): Tensor {
  return toTensor(drawLetterboxed(picture, letterboxOf(picture, manifest.size, layout.fit)), layout)
}

/** The outputs for each picture: all at once where the model can, else one after the other. */
async function outputsOf(runner: Runner, takesSeveral: boolean, inputs: readonly Tensor[]): Promise<Tensor[][]> {
  const { runtime, session, input, outputs } = runner
  async function run({ data, shape }: Tensor): Promise<Tensor[]> {
    const answer = await session.run({ [input]: new runtime.Tensor('float32', data, shape) }, outputs)
    return outputs.map((output) => floatsOf(answer[output], runner.manifest.name))
  }
  if (!takesSeveral || inputs.length === 1) {
    const all: Tensor[][] = []
    for (const one of inputs) all.push(await run(one))
    return all
  }
  const [first] = inputs
  const length = first!.data.length
  const data = new Float32Array(inputs.length * length)
  for (const [i, one] of inputs.entries()) data.set(one.data, i * length)
  const joined = await run({ data, shape: [inputs.length, ...first!.shape.slice(1)] })
  return inputs.map((_, i) => joined.map((output) => partOf(output, i, inputs.length)))
}

function partOf({ data, shape }: Tensor, index: number, count: number): Tensor {
  if (shape[0] !== count) throw new LayoutError(`the model's output is [${shape.join(', ')}] for ${count} pictures`)
  const length = data.length / count
  return { data: data.subarray(index * length, (index + 1) * length), shape: [1, ...shape.slice(1)] }
}

function floatsOf(output: OnnxRuntime.Tensor | undefined, name: string): Tensor {
  if (!(output?.data instanceof Float32Array))
    throw new ModelError('model_shape', `The model ${name} does not answer with 32-bit numbers.`)
  return { data: output.data, shape: output.dims }
}

function inWords(error: unknown, name: string): ModelError {
  if (error instanceof ModelError) return error
  if (error instanceof LayoutError)
    return new ModelError('model_shape', `The model ${name} is not of its manifest's layout: ${error.message}.`)
  return new ModelError('model_failed', `The model ${name} failed: ${firstLine(error)}`)
}

const WORDS_MAX = 120

/** ONNX Runtime's messages name its own source files after the first line. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0]!.slice(0, WORDS_MAX)
}
