/** Where the animals stand in the photographs of camera traps, by eye: left, top, right and bottom in shares. */
type Corners = readonly [left: number, top: number, right: number, bottom: number]

export const PHOTOGRAPHED: Readonly<Record<string, readonly Corners[]>> = {
  'ena-2480': [[0.75, 0.44, 0.91, 0.72]],
  'ena-2595': [[0, 0.58, 0.07, 0.85]],
  'ena-2999': [[0.63, 0.45, 0.98, 0.73]],
  'ena-352': [[0.32, 0.44, 0.455, 0.585]],
  'ena-4330': [[0.35, 0.82, 0.8, 0.98]],
  'ena-4451': [[0.83, 0.655, 0.9, 0.76]],
  'ena-5840': [[0.165, 0.62, 0.33, 0.78]],
  'ena-596': [[0.325, 0.645, 0.68, 0.78]],
  'ena-7951': [[0.245, 0.47, 0.385, 0.645]],
  'ena-8786': [[0.32, 0.57, 0.395, 0.745]],
  'ena-9455': [
    [0.22, 0.36, 0.305, 0.475],
    [0.27, 0.28, 0.355, 0.36],
    [0.43, 0.34, 0.485, 0.39],
  ],
  'md-sample-snapshotsafari-02': [
    [0.582, 0.505, 0.7, 0.64],
    [0.93, 0.49, 1, 0.57],
  ],
  'md-sample-snapshotsafari-04': [[0.18, 0.557, 0.355, 0.652]],
  'sn-african_elephants': [
    [0.56, 0.42, 0.655, 0.58],
    [0.7, 0.475, 0.8, 0.6],
    [0.84, 0.48, 0.94, 0.6],
  ],
  'sn-african_elephants_bw': [
    [0.56, 0.42, 0.655, 0.58],
    [0.7, 0.475, 0.8, 0.6],
    [0.84, 0.48, 0.94, 0.6],
  ],
  'sn-american_black_bear': [[0.435, 0.43, 0.755, 0.75]],
  'sn-domestic_cattle': [
    [0.38, 0.43, 0.5, 0.595],
    [0.588, 0.37, 0.655, 0.485],
    [0.89, 0.49, 0.99, 0.595],
  ],
  'sn-domestic_dog': [[0.275, 0.095, 0.75, 0.69]],
  'sn-ocelot': [[0.05, 0.545, 0.51, 0.82]],
}
