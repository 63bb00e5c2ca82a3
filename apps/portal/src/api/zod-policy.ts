import { wordsOfIssue } from '@hedgerow/contract/words'
import type { config } from 'zod'

/**
 * What forms say of a field is in people's words. The hub's policy allows no code made from text; without `jitless` zod
 * would try it once and be reported for it. Written
 * to where zod looks for its settings instead of through its `config`, which would bring zod into the first chunk.
 */
const settings: Parameters<typeof config>[0] = { jitless: true, customError: wordsOfIssue }
Object.assign(globalThis, { __zod_globalConfig: settings })
