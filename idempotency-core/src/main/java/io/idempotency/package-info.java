/**
 * The public API for applications: the annotation, its modes, the exceptions, and the
 * template for programmatic use.
 * <p>
 * Terms, which are the same in code, documentation, metrics and messages: a <b>key</b>
 * identifies one intended operation; the <b>scope</b> is the operation and the caller
 * that a key belongs to; a <b>fingerprint</b> is the digest of the values that must be
 * equal on a retry; a <b>claim</b> is the right to run; a <b>claim id</b> identifies the
 * owner of a claim; a <b>lease</b> is the time for which a claim is valid without
 * renewal; a <b>fencing token</b> is a number that increases with every claim of the key;
 * the owner of a claim can <b>complete</b>, <b>release</b> and <b>renew</b> it; a
 * <b>replay</b> returns the stored result; a <b>conflict</b> is a duplicate while the
 * first call runs; the <b>retention</b> is the time for which a result is stored; a call
 * can be <b>completed without a stored result</b>; an <b>issued token</b> is a key that
 * this service issued.
 */
@NullMarked
package io.idempotency;

import org.jspecify.annotations.NullMarked;
