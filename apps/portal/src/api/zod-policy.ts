import { wordsOfIssue } from '@hedgerow/contract/words'
import type { config } from 'zod'

/**
 * Form errors use our sentences. `jitless`, because the Content-Security-Policy forbids code made from text and would
 * report zod's attempt. The settings are written to zod's global object, because importing its `config` would put zod
 * into the first chunk.
 */
const settings: Parameters<typeof config>[0] = { jitless: true, customError: wordsOfIssue }
Object.assign(globalThis, { __zod_globalConfig: settings })
