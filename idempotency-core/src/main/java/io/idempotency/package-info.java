/**
 * The types that an application uses: the annotation, its modes, the exceptions, and the
 * template for code without an annotation.
 * <p>
 * One word per idea, the same in code, docs, metrics and messages: <b>key</b> names one
 * intent; <b>scope</b> says whose key it is (operation and caller); <b>fingerprint</b> is
 * the digest of what must be equal on a retry; <b>claim</b> is the right to run; <b>claim
 * id</b> says whose claim it is; <b>lease</b> is how long a claim lives unless renewed;
 * <b>fencing token</b> is the number of a claim, larger for every later claim of the key;
 * <b>complete</b>, <b>release</b> and <b>renew</b> are what the owner of a claim may do
 * with it; <b>replay</b> gives the stored result; <b>conflict</b> is a duplicate while
 * the first call runs; <b>retention</b> is how long a result is kept; a <b>tombstone</b>
 * says "done, result not kept"; an <b>issued token</b> is a key this service handed out.
 */
@NullMarked
package io.idempotency;

import org.jspecify.annotations.NullMarked;
