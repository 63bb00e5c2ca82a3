import { ensureWebBuilt } from '../../scripts/web-build.ts'

/** Runs once before the tests that look at the portal. */
export default ensureWebBuilt
