import { ensureGatewayUiBuilt, ensureWebBuilt } from '../../scripts/web-build.ts'

/** Runs once before the tests that look at pages. */
export default async function buildPages(): Promise<void> {
  await ensureWebBuilt()
  await ensureGatewayUiBuilt()
}
