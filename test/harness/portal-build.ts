import { ensureGatewayUiBuilt, ensureWebBuilt } from '../../scripts/web-build.ts'

/** Runs once before the tests of pages. */
export default async function buildPages(): Promise<void> {
  await ensureWebBuilt()
  await ensureGatewayUiBuilt()
}
