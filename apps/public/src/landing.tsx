import { Closing } from './closing.tsx'
import { Frame } from './frame.tsx'
import { GatewayFeatures } from './gateway-features.tsx'
import { Hardware } from './hardware.tsx'
import { Hero } from './hero.tsx'
import { HowItWorks } from './how-it-works.tsx'
import { Learning } from './learning.tsx'
import { Management } from './management.tsx'
import { Reasons } from './reasons.tsx'
import { Recognition } from './recognition.tsx'
import { Registration } from './registration.tsx'
import { SupportedHardware } from './supported-hardware.tsx'
import { TwoStages } from './two-stages.tsx'
import { UseCases } from './use-cases.tsx'

export const LANDING_TITLE = 'Hedgerow: one hub for the cameras that guard your land'

/** The landing page. */
export function LandingPage({ hasDemo }: { hasDemo: boolean }) {
  return (
    <Frame>
      <Recognition />
      <Hero hasDemo={hasDemo} />
      <HowItWorks />
      <UseCases />
      <Reasons />
      <Learning />
      <Hardware />
      <TwoStages />
      <GatewayFeatures />
      <SupportedHardware />
      <Management />
      <Registration />
      <Closing />
    </Frame>
  )
}
