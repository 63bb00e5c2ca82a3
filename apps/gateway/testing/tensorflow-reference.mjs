/**
 * What TensorFlow.js itself finds: `node tensorflow-reference.mjs FAMILY GRAPH PICTURE`, in a folder that has its
 * packages. PICTURE is raw RGB in the size of the model's input. Prints a place a line: left, top, right and bottom in
 * pixels of the input, then the score of each class.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const [family, graph, picture] = process.argv.slice(2)
const require = createRequire(join(process.cwd(), 'package.json'))
const tf = require('@tensorflow/tfjs-core')
require('@tensorflow/tfjs-backend-cpu')
const { loadGraphModel } = require('@tensorflow/tfjs-converter')
const { modelTopology, weightsManifest, format, signature } = JSON.parse(readFileSync(graph, 'utf8'))
const paths = weightsManifest.flatMap((group) => group.paths)
const weightData = Uint8Array.from(Buffer.concat(paths.map((path) => readFileSync(join(dirname(graph), path))))).buffer
const weightSpecs = weightsManifest.flatMap((group) => group.weights)
const pixels = readFileSync(picture)
const side = Math.sqrt(pixels.length / 3)
await tf.setBackend('cpu')
const model = await loadGraphModel({
  load: async () => ({ modelTopology, weightSpecs, weightData, format, signature }),
})
const lines = family === 'nanodet-g' ? nanodet() : await ssdlite()
process.stdout.write(lines.map((line) => line.join(' ')).join('\n'))

async function ssdlite() {
  const input = { image_tensor: tf.tensor(pixels, [1, side, side, 3], 'int32') }
  const outputs = await model.executeAsync(input, ['Postprocessor/ExpandDims_1', 'Postprocessor/Slice'])
  const [boxes, scores] = outputs.map((output) => output.dataSync())
  return Array.from({ length: boxes.length / 4 }, (_, i) => {
    const [top, left, bottom, right] = boxes.slice(i * 4, i * 4 + 4)
    // The graph has cut off the score of the background.
    return [...[left, top, right, bottom].map((share) => share * side), 0, ...scores.slice(i * 90, i * 90 + 90)]
  })
}

function nanodet() {
  const [mean, deviation] = [
    [103.53, 116.28, 123.675],
    [57.375, 57.12, 58.395],
  ]
  const planes = [0, 1, 2].map((plane) =>
    Array.from({ length: side * side }, (_, i) => (pixels[i * 3 + 2 - plane] - mean[plane]) / deviation[plane]),
  )
  const names = ['Identity', 'Identity_1', 'Identity_2', 'Identity_3', 'Identity_4', 'Identity_5']
  const outputs = model.execute({ input_1: tf.tensor(planes.flat(), [1, 3, side, side]) }, names)
  const numbers = outputs.map((output) => output.dataSync())
  return [8, 16, 32].flatMap((stride, map) => {
    const cells = side / stride
    return Array.from({ length: cells * cells }, (_, i) => {
      const [x, y] = [((i % cells) + 0.5) * stride, (Math.floor(i / cells) + 0.5) * stride]
      const [left, top, right, bottom] = [0, 1, 2, 3].map((end) => {
        const weights = Array.from(numbers[map + 3].slice(i * 44 + end * 11, i * 44 + end * 11 + 11), Math.exp)
        const sum = weights.reduce((a, b) => a + b)
        return weights.reduce((mean, weight, bin) => mean + (weight / sum) * bin * stride, 0)
      })
      return [x - left, y - top, x + right, y + bottom, ...numbers[map].slice(i * 80, i * 80 + 80)]
    })
  })
}
