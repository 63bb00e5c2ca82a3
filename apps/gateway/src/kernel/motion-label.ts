/** What the eye without a model reports: something moved. It may be a person, an animal or a shadow. */
export const MOTION = 'motion'

export function isMotionLabel(label: string): boolean {
  return label.toLowerCase() === MOTION
}
