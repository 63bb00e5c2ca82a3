/** `npm run build`: the pages of the hub and of the gateway. */
import { buildWeb } from './web-build.ts'

await buildWeb()
