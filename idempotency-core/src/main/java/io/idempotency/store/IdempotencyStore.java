package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.IdempotencyKey;

/**
 * Keeps one record for each key and changes it in atomic steps.
 * <p>
 * Thread-safe; any number of threads and of nodes may call it for one key. Every method
 * is one atomic step, and one round trip where the server allows it: MySQL and H2 need a
 * second one for a duplicate. Time is the store's own, never the caller's, because the
 * clocks of two callers may differ by minutes. A claim id alone decides ownership: "ours"
 * below means that the record holds the given claim id. The published {@code
 * IdempotencyStoreContract} of {@code idempotency-test} has a test for every cell.
 *
 * <table class="striped">
 * <caption>States of a record</caption> <thead>
 * <tr>
 * <th>state</th>
 * <th>claim</th>
 * <th>complete</th>
 * <th>release</th>
 * <th>renew</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>absent</td>
 * <td>RUNNING: Acquired; a token: UnknownToken</td>
 * <td>accepted: DONE, if the claim is younger than the retention (a late success is
 * kept); else refused</td>
 * <td>accepted, nothing changes</td>
 * <td>refused</td>
 * </tr>
 * <tr>
 * <td>ISSUED (token); absent when its time to live is over</td>
 * <td>RUNNING: Acquired</td>
 * <td>as absent</td>
 * <td>accepted, nothing changes</td>
 * <td>refused</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease live</td>
 * <td>ours: Acquired with the same fence; else other fingerprint: Mismatch; else
 * InProgress</td>
 * <td>ours: DONE; else refused</td>
 * <td>ours: absent, a token: ISSUED again with its first expiry and no fingerprint; ours
 * and acquired as abandoned: stays RUNNING, lease over, nobody's; else refused</td>
 * <td>ours: longer lease; else refused</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease over; absent when the retention of the claim is over too</td>
 * <td>ours: Acquired with the same fence and a new lease; else Mismatch first; may take
 * over: Acquired with a larger fence, abandoned; may not: Abandoned, nothing changes</td>
 * <td>ours or nobody's: DONE; else refused</td>
 * <td>as lease live</td>
 * <td>ours: longer lease; else refused</td>
 * </tr>
 * <tr>
 * <td>EXECUTED; a tombstone when {@code attachWithin} is over</td>
 * <td>Mismatch first, then InProgress, then Tombstone</td>
 * <td>ours: DONE (also when it is a tombstone by then); else refused</td>
 * <td>refused</td>
 * <td>refused</td>
 * </tr>
 * <tr>
 * <td>DONE; absent when the retention is over</td>
 * <td>Mismatch first, then Completed or Tombstone</td>
 * <td>same claim id: accepted, nothing changes; else refused</td>
 * <td>refused</td>
 * <td>refused</td>
 * </tr>
 * <tr>
 * <td>ONCE; absent when the retention, counted from the first claim, is over</td>
 * <td>ours: Acquired with the same fence; else Duplicate, counted</td>
 * <td>refused</td>
 * <td>ours: absent, a token: ISSUED again; else refused</td>
 * <td>refused</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * Where the mode of an operation was changed while records of the old one are kept, a
 * claim of type {@link ClaimType#ONCE} that meets the record of a
 * {@link ClaimType#LEASED} one is a Duplicate of two attempts, and the reverse a
 * Tombstone.
 * <p>
 * RUNNING never expires while its lease lives. A completion with zero retention leaves no
 * record and is accepted where the record is absent. The fence of a record never falls.
 * <p>
 * A store that has to make room may turn DONE into a tombstone before its time, and
 * forget what was refused, as {@link ResultKind} says; it never forgets anything else.
 * <p>
 * A method that cannot be carried out throws {@link IdempotencyStoreException}; it may
 * have been applied all the same, and every method may be sent once more. Where it surely
 * was not applied, because the request never left, it is a
 * {@link StoreNotReachedException}. A record that the store cannot read (a newer
 * version's) is an {@link UnreadableRecordException}, never "absent".
 * <p>
 * No method takes longer than the store's time-out, so that a claim that lives is renewed
 * in time whatever else hangs.
 *
 * @since 0.1.0
 */
public interface IdempotencyStore {

	/**
	 * Asks for the right to run.
	 * @param request the request
	 * @return what to do
	 * @throws IdempotencyStoreException if it may not have been applied, or the store is
	 * full
	 */
	ClaimResult claim(ClaimRequest request);

	/**
	 * Ends a claim; may be repeated.
	 * @param completion what is written
	 * @return whether it was accepted; a refusal means that the claim was lost to another
	 * owner and is final
	 * @throws IdempotencyStoreException if it may not have been applied
	 */
	boolean complete(Completion completion);

	/**
	 * Gives a claim back so that a later call may run; may be repeated.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @return whether it was accepted; a refusal means that the record is another owner's
	 * or done, and is final
	 * @throws IdempotencyStoreException if it may not have been applied
	 */
	boolean release(IdempotencyKey key, ClaimId claimId);

	/**
	 * Lets a claim live for a whole lease from now.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @param lease the lease
	 * @return whether it was accepted; a refusal means that the claim is lost and is
	 * final
	 * @throws IdempotencyStoreException if it may not have been applied
	 */
	boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease);

	/**
	 * Lets many claims live for a whole lease from now, each as
	 * {@link #renew(IdempotencyKey, ClaimId, Duration)} does: every one of them is an
	 * atomic step, all together are not. A store that can do it in one round trip does;
	 * this loops.
	 * @param renewals the claims, each once
	 * @return the claims that were refused: they are lost, and that is final
	 * @throws IdempotencyStoreException if any of them may not have been renewed; a
	 * {@link NotAllRenewedException} says which
	 */
	default Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		Set<ClaimId> refused = new HashSet<>();
		for (Renewal renewal : renewals) {
			if (!renew(renewal.key(), renewal.claimId(), renewal.lease())) {
				refused.add(renewal.claimId());
			}
		}
		return refused;
	}

	/**
	 * Issues a token: an absent record becomes ISSUED, any other stays as it is.
	 * @param token a key for which {@link IdempotencyKey#isToken()}
	 * @param timeToLive how long it may be used
	 * @return when it expires, by the store's clock
	 * @throws IdempotencyStoreException if it may not have been applied, or the store is
	 * full
	 */
	Instant issue(IdempotencyKey token, Duration timeToLive);

	/**
	 * This store, taking part in the caller's database transaction.
	 * @return the joining store, empty for a store that has no transaction to join
	 */
	default Optional<IdempotencyStore> joining() {
		return Optional.empty();
	}

}
