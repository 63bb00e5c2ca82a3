/**
 * Bodies of calls that edit. A PUT is whole: a missing field is refused by name. A PATCH changes the fields that it
 * has. Neither may have a default, which would reset what a caller left out.
 */
import { z } from 'zod'

/**
 * `seen` holds fields as the caller saw them. When somebody else has changed one of them since, the call answers
 * `changed_meanwhile` and changes nothing.
 */
const withSeen = <S extends z.ZodRawShape>(fields: z.ZodObject<S>) => ({
  seen: z.partialRecord(fields.keyof(), z.unknown()).optional(),
})

/** The body of a PUT. */
export const wholeBody = <S extends z.ZodRawShape>(fields: z.ZodObject<S, z.core.$strict>) =>
  fields.extend(withSeen(fields))

/** The body of a PATCH: a field that is left out keeps its value. */
export const changedFields = <S extends z.ZodRawShape>(fields: z.ZodObject<S, z.core.$strict>) =>
  fields.partial().extend(withSeen(fields))
