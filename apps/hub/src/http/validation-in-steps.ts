/**
 * Validates a body with a long list in steps, and lets other requests run between two steps. Fastify ignores the result
 * of an asynchronous validator, so the parsed items replace the raw ones in place.
 */
import { wordsOfIssue } from '@hedgerow/contract/words'
import { z } from 'zod'
import { slices } from '../kernel/slices.ts'

const ITEMS_AT_ONCE = 20
const LENGTH_CHECKS = new Set(['min_length', 'max_length', 'length_equals'])

export type StepwiseValidation = {
  isFor(body: unknown): body is object
  /** The problems of the first step that has any. */
  validate(body: object): Promise<z.core.$ZodIssue[]>
}

/** Undefined for a schema without a list in its outermost object, or with a rule over all of its items. */
export function validationInSteps(schema: z.ZodType): StepwiseValidation | undefined {
  if (!(schema instanceof z.ZodObject) || schema.def.checks?.length) return undefined
  const [name, list] = Object.entries<z.ZodType>(schema.shape).find(([, field]) => field instanceof z.ZodArray) ?? []
  if (name === undefined || !(list instanceof z.ZodArray)) return undefined
  const checks = list.def.checks ?? []
  if (!checks.every((check) => LENGTH_CHECKS.has(check._zod.def.check))) return undefined
  const frame = schema.extend({ [name]: z.array(z.unknown()).check(...(checks as z.core.$ZodCheck<unknown[]>[])) })
  const items = z.array(list.element as z.ZodType)

  const listOf = (body: unknown): unknown[] => {
    const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
    return Array.isArray(value) ? value : []
  }

  return {
    isFor: (body): body is object => listOf(body).length > ITEMS_AT_ONCE,
    async validate(body) {
      const outside = frame.safeParse(body, { error: wordsOfIssue })
      if (!outside.success) return outside.error.issues
      const parsed: unknown[] = []
      for await (const raw of slices(listOf(body), ITEMS_AT_ONCE)) {
        const start = parsed.length
        const step = items.safeParse(raw, { error: wordsOfIssue })
        if (!step.success)
          return step.error.issues.map((issue) => {
            const [index, ...rest] = issue.path
            return { ...issue, path: [name, start + Number(index), ...rest] }
          })
        parsed.push(...step.data)
      }
      Object.assign(body, outside.data, { [name]: parsed })
      return []
    },
  }
}
