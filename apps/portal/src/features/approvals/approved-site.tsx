import { SiteSelect } from '#parts/site-select.tsx'

type ApprovedSiteProps = { value: string; onChange: (siteId: string) => void; disabled?: boolean }

/** The site of the gateways that an approval makes. */
export const ApprovedSite = ({ onChange, ...input }: ApprovedSiteProps) => (
  <SiteSelect
    none="As its invitation or location says"
    {...input}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)
