/** Chosen for a few pictures a second, where an animal moves by its own length between two pictures. */
export const TRACKING = { confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 }
/**
 * A sighting that reaches `minimumScore` begins a track. Sightings from this share of it on confirm the track; weaker
 * ones only continue a confirmed track.
 */
export const HIGH_SHARE = 0.8
