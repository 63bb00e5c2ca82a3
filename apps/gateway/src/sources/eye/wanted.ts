/** What of the things that a model finds may be a detection: by label, score, size, shape and place. */
import { meansLabel } from '@hedgerow/contract'
import { contains, footOf, type Box, type Sighting, type Size, type Track } from '@hedgerow/vision'
import { USUAL_SCORE, type CameraSettings, type SizeLimits } from '../../cameras/schema.ts'
import { ofLabel } from '../../kernel/of-label.ts'
import type { EyeSettings } from './schema.ts'
import { LEAST_LOOKS } from './tracking.ts'

type Scores = Readonly<Record<string, number>>

export function createWanted(camera: CameraSettings, eye: EyeSettings, scoresOfModel: () => Scores | undefined) {
  /** The nearest to the label and to the camera holds. */
  const leastScore = (label: string) =>
    ofLabel(camera.scores, label) ??
    camera.minimumScore ??
    ofLabel(eye.scores, label) ??
    eye.minimumScore ??
    ofLabel(scoresOfModel(), label) ??
    USUAL_SCORE
  return {
    label: (label: string) => eye.labels?.some((wanted) => meansLabel(wanted, label)) ?? true,
    /** Whether it may be tracked: its size and shape fit its label, and it stands outside of the object masks. */
    sighting({ box, label }: Sighting, size: Size): boolean {
      const limits = ofLabel(camera.sizes, label) ?? ofLabel(eye.sizes, label)
      return (!limits || fits(box, limits, size)) && !camera.objectMasks.some((mask) => stands(box, mask))
    },
    /** Whether a track was seen often and surely enough for a detection. */
    track: ({ label, score, hits }: Track) => hits >= LEAST_LOOKS && score >= leastScore(label),
  }
}

function fits({ width, height }: Box, limits: SizeLimits, size: Size): boolean {
  const area = width * height
  const shape = (width * size.width) / (height * size.height)
  const { minimumArea = 0, maximumArea = 1, minimumShape = 0, maximumShape = Infinity } = limits
  return area >= minimumArea && area <= maximumArea && shape >= minimumShape && shape <= maximumShape
}

/** A box that ends at the lower edge of the picture stands on it. */
function stands(box: Box, mask: Parameters<typeof contains>[0]): boolean {
  const { x, y } = footOf(box)
  return contains(mask, { x: Math.min(x, 1 - 1e-6), y: Math.min(y, 1 - 1e-6) })
}
