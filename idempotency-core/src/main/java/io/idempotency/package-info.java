/**
 * The public API for applications: the annotation, its modes, the exceptions, and the
 * template for programmatic use.
 * <p>
 * These terms are the same in code, documentation, metrics and messages:
 * <ul>
 * <li><b>Key</b>: identifies one intended operation.
 * <li><b>Scope</b>: the operation and the caller that a key belongs to.
 * <li><b>Fingerprint</b>: the digest of the values that must be equal on a retry.
 * <li><b>Claim</b>: the right to run. The owner of a claim can complete, release and
 * renew it.
 * <li><b>Claim id</b>: identifies the owner of a claim.
 * <li><b>Lease</b>: the time for which a claim is valid without renewal.
 * <li><b>Fencing token</b>: a number that increases with every claim of the key.
 * <li><b>Replay</b>: returns the stored result.
 * <li><b>Conflict</b>: a duplicate while the first call runs.
 * <li><b>Retention</b>: the time for which a result is stored.
 * <li><b>Completed without a stored result</b>: the call completed, and its result is not
 * stored.
 * <li><b>Issued token</b>: a key that this service issued.
 * </ul>
 */
@NullMarked
package io.idempotency;

import org.jspecify.annotations.NullMarked;
