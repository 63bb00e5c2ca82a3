/** Filters of Threats that a person saved under a name; nobody else sees them. */
import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine } from './fields.ts'

export const SAVED_VIEWS_MAX = 50

const savedViewId = z.string().regex(/^[a-z2-7]{16}$/, 'This is not the id of a saved view')

const savedView = z.object({
  id: savedViewId,
  name: z.string(),
  /** The query of Threats' address, after the question mark: `label=boar&review=none`. */
  filter: z.string(),
})
export type SavedView = z.output<typeof savedView>

/** The caller's views, oldest first. */
export const listSavedViews = call({ method: 'GET', path: '/v1/hub/saved-views', response: z.array(savedView) })

/** Replaces the caller's view of the same name. */
export const saveView = call({
  method: 'POST',
  path: '/v1/hub/saved-views',
  body: z.strictObject({
    name: cleanLine(60).min(1, 'Enter a name'),
    filter: z
      .string()
      .max(2_000)
      .regex(/^[\w.~%&=+:!*'()-]*$/, 'This is not a filter'),
  }),
  errors: ['too_many_saved_views'],
  response: savedView,
})

/** Deleting one that is gone, or is somebody else's, changes nothing. */
export const deleteSavedView = call({
  method: 'DELETE',
  path: '/v1/hub/saved-views/:id',
  params: z.strictObject({ id: savedViewId }),
  response: null,
})
