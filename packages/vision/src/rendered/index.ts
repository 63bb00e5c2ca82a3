export { createRandom, type Random } from './random.ts'
export { createRenderer, type Actor, type RenderedFrame, type Scene, type SceneRenderer, type Truth } from './scene.ts'
export { scenes, walker } from './scenes.ts'
export { RENDERED_LABELS, type Individual, type RenderedLabel } from './silhouettes.ts'
export {
  measure,
  precisionOf,
  recallOf,
  type Found,
  type MeasureOptions,
  type Measurement,
  type Tally,
} from './measure.ts'
