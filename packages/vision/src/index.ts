export { assign } from './assignment.ts'
export { frameQuality, isBetterFrame } from './best-frame.ts'
export {
  areaOf,
  centreOf,
  clipToPicture,
  footOf,
  growBy,
  intersectionOf,
  overlapOf,
  type Box,
  type Point,
} from './box.ts'
export { createPlane, createRgbImage, lumaOf, type Plane, type RgbImage, type Size } from './image.ts'
export { DEMONSTRATION_CLASSES, lookAt, type DemonstrationClass, type Look } from './demonstration/eye.ts'
export { HOG_FEATURES, HOG_PIXELS, hogOf } from './hog.ts'
export { cropOf, CROP_PIXELS, verifierFeatures, VERIFIER_FEATURES, type Glance } from './learning/features.ts'
export {
  learn,
  LEAST_REVIEWS,
  MISSED_SHARE,
  verify,
  type Drift,
  type Example,
  type Examples as ReviewedExamples,
  type Lesson,
  type Night,
  type Outcome,
  type Verifier,
} from './learning/lesson.ts'
export { type Calibration } from './learning/platt.ts'
export {
  learnNames,
  LEAST_CORRECTIONS,
  nameOf,
  WRONG_NAMES,
  type NameExample,
  type NameGlance,
  type NameHead,
  type NameLesson,
} from './learning/names.ts'
export { FEATURES, pooled } from './learning/pooled.ts'
export { findRepeats, type Repeat, type Seen } from './learning/repeats.ts'
export { drawLetterboxed, letterboxOf, toSource, toTarget, type Fit, type Letterbox } from './letterbox.ts'
export { layouts, readOutputs, toTensor, type LayoutName } from './layouts/layouts.ts'
export type { Layout } from './layouts/layout.ts'
export { LayoutError, type Tensor } from './layouts/tensor.ts'
export { classify, trainClassifier, type Examples, type LinearClassifier } from './linear-classifier.ts'
export { createMotionDetector, type Motion, type MotionDetector, type MotionOptions, type Region } from './motion.ts'
export { suppressNonMaxima, type Candidate } from './non-maximum-suppression.ts'
export { oneEach, type PartLook } from './one-each.ts'
export { createOverlayFinder, type OverlayFinder } from './overlays.ts'
export { resamplePlane, resampleRgb, type PixelRectangle } from './resample.ts'
export { copyOf, shareOf, squaresAround } from './squares.ts'
export { Tracker, type Features, type Sighting, type Track, type Tracked, type TrackerOptions } from './tracker.ts'
export { matchOf, VIEW_PLACES, viewOf, type View, type ViewMatch } from './view.ts'
export { contains, coveredShare, maskedCells, zonesOf, type Polygon } from './zones.ts'
