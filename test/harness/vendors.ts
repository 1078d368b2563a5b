/** The vendors of this release, as a new database has them. */
import { VendorDirectory } from '../../src/catalogue/vendor-directory.ts'
import { vendorDetectorOf } from '../../src/http/detect-vendor.ts'
import { VENDORS } from '../../src/postgres/seeds.generated.ts'

export const SEEDED_VENDORS = new VendorDirectory(VENDORS)
export const SEEDED_DETECTOR = vendorDetectorOf(SEEDED_VENDORS)
