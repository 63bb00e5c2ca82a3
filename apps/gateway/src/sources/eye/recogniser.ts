/** Names the objects in a picture: nothing but motion, the demonstration eye, or a model. */
import { coveredShare, lookAt, type Polygon, type Region, type Sighting } from '@hedgerow/vision'
import type { Frame } from '../../cameras/camera.ts'
import { MOTION } from '../../kernel/motion-label.ts'
import { isPersonLabel } from '../../kernel/person-label.ts'
import type { Model } from '../../models/model.ts'

export type Recogniser = {
  readonly by: string
  /** Whether it finds objects that stand still; otherwise it looks only at moving regions. */
  readonly seesStill: boolean
  /** From this score on, a person may be there and keeps deterrents off. */
  readonly glimpseScore: number
  /** Whether it would name a person now; undefined while it can't look. */
  seesPersons(): boolean | undefined
  /** Undefined when the picture was not processed: there was no time, or the model can't be used. */
  look(camera: string, frame: Frame, regions: readonly Region[]): Promise<Sighting[] | undefined>
}

/** Without a model nobody knows what moves. */
export const motionEye: Recogniser = {
  by: 'motion, no model',
  seesStill: false,
  glimpseScore: 0,
  seesPersons: () => false,
  look: async (_camera, _frame, regions) => regions.map(({ box }) => ({ box, label: MOTION, score: 1 })),
}

/** Recognises drawn outlines, for drawn scenes. In real pictures it sees animals that are not there. */
export const demonstrationEye: Recogniser = {
  by: 'demonstration eye',
  seesStill: false,
  glimpseScore: 0,
  seesPersons: () => true,
  look: async (_camera, { luma }, regions) =>
    regions.flatMap(({ box }) => {
      const look = lookAt(luma, box)
      return look.label === 'nothing' ? [] : [{ box, ...look }]
    }),
}

/** Lower than a new track needs, because a known track accepts weaker sightings. */
export const LEAST_SCORE = 0.1
const GLIMPSE_SCORE = 0.25
/** An object is not reported when a mask covers this share of its box. */
const MASKED = 0.5

export function modelRecogniser(model: Model, masksOf: (camera: string) => readonly Polygon[]): Recogniser {
  return {
    by: model.name,
    seesStill: true,
    glimpseScore: GLIMPSE_SCORE,
    seesPersons: () => model.labels()?.some(isPersonLabel),
    async look(camera, { image }) {
      const masks = masksOf(camera)
      const seen = await model.look(camera, image)
      return seen?.filter(({ box }) => !masks.some((mask) => coveredShare(mask, box) >= MASKED))
    },
  }
}
