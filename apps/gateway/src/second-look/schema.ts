import { z } from 'zod'
import { modelName } from '../models/schema.ts'

/** The name of this stage in verdicts. */
export const SECOND_LOOK = 'second-look'

const label = z.string().trim().min(1).max(100)
const WAYS = ['model', 'endpoint', 'hub'] as const

const endpoint = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .describe('Its address without `/v1`, such as `http://127.0.0.1:11434`.'),
  key: z.string().min(1).max(1_000).optional().describe('Sent as `Authorization: Bearer …`.'),
  model: z.string().trim().min(1).max(200).describe('The name of the model at the endpoint.'),
})

/** The part `secondLook` of gateway.yaml. */
export const secondLookSettings = z
  .strictObject({
    labels: z.array(label).min(1).max(100).describe('Detections with these labels get a second look.'),
    model: modelName
      .optional()
      .describe(
        'A second model, added with `hedgerow-gateway model add`: it sees the object and its surroundings, at ' +
          'full resolution.',
      ),
    endpoint: endpoint.optional().describe('A vision endpoint with OpenAI’s chat completions: Ollama, llama.cpp.'),
    hub: z.literal(true).optional().describe('`true`: uses the endpoint that the hub offers to its gateways.'),
    normal: z
      .string()
      .trim()
      .max(500)
      .optional()
      .describe('What is normal in the pictures, as a sentence for an endpoint: “Sheep graze behind the fence.”'),
    timeoutSeconds: z
      .number()
      .min(1)
      .max(600)
      .default(30)
      .describe('A second look that takes longer has the verdict “unsure”.'),
  })
  .superRefine((settings, context) => {
    const given = WAYS.filter((name) => settings[name] !== undefined)
    if (given.length === 1) return
    const message = 'Say who looks: one of `model`, `endpoint` and `hub`.'
    context.addIssue({ code: 'custom', path: given.slice(1, 2), message })
  })
export type SecondLookSettings = z.output<typeof secondLookSettings>
