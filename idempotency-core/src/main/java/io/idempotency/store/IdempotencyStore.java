package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * Keeps one record for each key and changes it in atomic steps.
 * <p>
 * A store is thread-safe; any number of threads and of nodes may call it for one key.
 * Every verb is one atomic step; only {@link #renewAll} makes one step for each claim. In
 * the usual case a verb takes one round trip. A database needs a second one for the claim
 * of a token, and MySQL and H2 need a second one for a duplicate. Time is the store's
 * own, never the caller's, because the clocks of two callers may differ by minutes. A
 * claim id alone decides ownership: "ours" below means that the record holds the given
 * claim id. The published {@code IdempotencyStoreContract} of {@code idempotency-test}
 * has a test for every cell.
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
 * kept); else rejected</td>
 * <td>accepted, nothing changes</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>ISSUED (token); absent when its time to live is over</td>
 * <td>RUNNING: Acquired</td>
 * <td>as absent</td>
 * <td>accepted, nothing changes</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease live</td>
 * <td>ours: Acquired with the same fencing token; else other fingerprint: KeyReused; else
 * InProgress</td>
 * <td>ours: DONE; else rejected</td>
 * <td>ours: absent, a token: ISSUED again with its first expiry and no fingerprint; ours
 * and acquired as abandoned: stays RUNNING, lease over, nobody's; else rejected</td>
 * <td>ours: longer lease; else rejected</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease over; absent when the retention of the claim is over too</td>
 * <td>ours: Acquired with the same fencing token and a new lease; else KeyReused first;
 * may take over: Acquired with a larger fencing token, abandoned; may not: Abandoned,
 * nothing changes</td>
 * <td>ours, or nobody's with an equal fingerprint: DONE; else rejected</td>
 * <td>nobody's: accepted, nothing changes; else as lease live</td>
 * <td>ours: longer lease; else rejected</td>
 * </tr>
 * <tr>
 * <td>COMMITTED; a tombstone when {@code attachWithin} is over</td>
 * <td>KeyReused first, then InProgress, then ResultUnavailable</td>
 * <td>ours: DONE (also when it is a tombstone by then); else rejected</td>
 * <td>rejected</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>DONE; absent when the retention is over</td>
 * <td>KeyReused first, then Completed or ResultUnavailable</td>
 * <td>same claim id: accepted, nothing changes; else rejected</td>
 * <td>rejected</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>ONCE; absent when the retention, counted from the first claim, is over</td>
 * <td>ours: Acquired with the same fencing token; else Duplicate, counted</td>
 * <td>rejected</td>
 * <td>ours: absent, a token: ISSUED again; else rejected</td>
 * <td>rejected</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * When the mode of an operation was changed, records of the old mode may still be kept. A
 * claim of type {@link ClaimType#ONCE} that meets the record of a
 * {@link ClaimType#LEASED} claim gets Duplicate with two attempts. A claim of type
 * {@link ClaimType#LEASED} that meets the record of a {@link ClaimType#ONCE} claim gets
 * ResultUnavailable.
 * <p>
 * RUNNING never expires while its lease lives. A completion with zero retention leaves no
 * record, and is accepted if the record is absent. The fencing token of a record never
 * falls.
 * <p>
 * A store that has to make room may turn DONE into a tombstone before its time, and may
 * forget rejected calls, as {@link ResultKind} says; it never forgets any other record.
 * <p>
 * A method that fails throws {@link IdempotencyStoreException}. Its step may have been
 * applied all the same, so every method may be sent once more. If the request never left,
 * and so surely was not applied, the method throws {@link StoreNotReachedException}. If
 * the store cannot read a record (for example the record of a newer version), the method
 * throws {@link UnreadableRecordException}; the record never counts as absent.
 * <p>
 * No method takes longer than the store's time-out, so that one call that hangs does not
 * delay the renewal of other claims.
 *
 * @since 0.1.0
 */
public interface IdempotencyStore {

	/**
	 * Asks for the right to run.
	 * @param request the request
	 * @return the answer
	 * @throws IdempotencyStoreException if it is not certain that the step was applied,
	 * or the store is full
	 */
	ClaimResult claim(ClaimRequest request);

	/**
	 * Ends a claim. The call may be repeated.
	 * @param completion the end of the claim
	 * @return whether the completion was accepted; a rejection is final and means that the
	 * claim was lost to another owner
	 * @throws IdempotencyStoreException if it is not certain that the step was applied
	 */
	boolean complete(Completion completion);

	/**
	 * Gives a claim back so that a later call may run. The call may be repeated.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @return whether the release was accepted; a rejection is final and means that the
	 * record belongs to another owner or is done
	 * @throws IdempotencyStoreException if it is not certain that the step was applied
	 */
	boolean release(IdempotencyKey key, ClaimId claimId);

	/**
	 * Lets a claim live for a whole lease from now.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @param lease the lease
	 * @return whether the renewal was accepted; a rejection is final and means that the
	 * claim is lost
	 * @throws IdempotencyStoreException if it is not certain that the step was applied
	 */
	boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease);

	/**
	 * Lets many claims live for a whole lease from now, each as
	 * {@link #renew(IdempotencyKey, ClaimId, Duration)} does. Each renewal is an atomic
	 * step; all renewals together are not. A store that can renew all claims in one round
	 * trip overrides this method; the default renews one claim after the other.
	 * @param renewals the claims, each once
	 * @return the claims whose renewal was rejected; a rejection is final and means that the
	 * claim is lost
	 * @throws IdempotencyStoreException if it is not certain that every claim was renewed
	 * or rejected; a {@link NotAllRenewedException} names the claims that were not
	 */
	default Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		Set<ClaimId> rejected = new HashSet<>();
		for (Renewal renewal : renewals) {
			if (!renew(renewal.key(), renewal.claimId(), renewal.lease())) {
				rejected.add(renewal.claimId());
			}
		}
		return rejected;
	}

	/**
	 * Issues a token: an absent record becomes ISSUED, any other record stays as it is.
	 * @param token a key for which {@link IdempotencyKey#isToken()}
	 * @param timeToLive how long the token may be used
	 * @return when the token expires, by the store's clock
	 * @throws IdempotencyStoreException if it is not certain that the step was applied,
	 * or the store is full
	 */
	Instant issue(IdempotencyKey token, Duration timeToLive);

	/**
	 * Reads the result that a claim of type {@link ClaimType#LEASED} would be given at
	 * this moment. A read claims and changes nothing, takes one round trip at most, and
	 * neither holds up nor aborts the caller's transaction, on whose connection it may be
	 * sent. It only serves a replay: without a result, the claim decides. The engine
	 * reads where a claim costs more, for keys of which it has seen a result: before a
	 * transaction begins and before the arguments of an HTTP handler are bound.
	 * <p>
	 * The default finds nothing. A store that overrides this method finds every result;
	 * the remaining retention may be an estimate by the clock of this JVM.
	 * @param key the key
	 * @param fingerprint the fingerprint that the claim would have
	 * @return what the claim would be given; empty if it would not be given a result, or
	 * if none was found
	 * @throws IdempotencyStoreException if the store could not be read
	 */
	default Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return Optional.empty();
	}

	/**
	 * Returns the form of this store that takes part in the caller's database
	 * transaction. Its methods throw {@link NoTransactionToJoinException} if the calling
	 * thread is in none of this store's.
	 * @return the joining store, empty for a store that has no transaction to join
	 */
	default Optional<IdempotencyStore> joining() {
		return Optional.empty();
	}

	/**
	 * Returns what this store offers to operators. A store that passes calls on to
	 * another one passes this on, too.
	 * @return the offer, empty for a store whose records cannot be looked up
	 */
	default Optional<RecordAdmin> admin() {
		return Optional.empty();
	}

	/**
	 * Returns what kind of store this is, for metrics: {@code redis}, {@code jdbc},
	 * {@code memory}. A store in front of another one gives the type of that one. The
	 * default is made of the name of the class: {@code DynamoIdempotencyStore} is of the
	 * type {@code dynamo}.
	 * @return the type, the same for each call
	 */
	default String type() {
		// The part of a name after these signs was made at run time.
		String name = getClass().getSimpleName().split("\\$\\$")[0].replaceFirst("(Idempotency)?Store$", "");
		String type = name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
		return type.isEmpty() ? "custom" : type;
	}

}
