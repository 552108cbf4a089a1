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
 * Stores one record for each key and changes it in atomic steps.
 * <p>
 * A store is thread-safe: any number of threads and nodes may call it for one key. Every
 * operation is one atomic step; only {@link #renewAll} makes one step for each claim. An
 * operation usually takes one round trip. A database needs a second round trip for the
 * claim of a token, and MySQL and H2 need a second round trip for a duplicate. Times are
 * measured by the store's clock, because the clocks of two callers may differ by minutes.
 * Only the claim id determines ownership: "ours" below means that the record has the
 * given claim id. The {@code IdempotencyStoreContract} of {@code idempotency-test} has a
 * test for every cell.
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
 * stored); else rejected</td>
 * <td>accepted, nothing changes</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>ISSUED (token); absent when its time to live has expired</td>
 * <td>RUNNING: Acquired</td>
 * <td>as absent</td>
 * <td>accepted, nothing changes</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease valid</td>
 * <td>ours: Acquired with the same fencing token; else other fingerprint: KeyReused; else
 * InProgress</td>
 * <td>ours: DONE; else rejected</td>
 * <td>ours: absent, a token: ISSUED again with its first expiry and no fingerprint; ours
 * and acquired as abandoned: stays RUNNING, lease expired, without an owner; else
 * rejected</td>
 * <td>ours: longer lease; else rejected</td>
 * </tr>
 * <tr>
 * <td>RUNNING, lease expired; absent when the retention of the claim has also
 * expired</td>
 * <td>ours: Acquired with the same fencing token and a new lease; else KeyReused first;
 * may take over: Acquired with a larger fencing token, abandoned; may not: Abandoned,
 * nothing changes</td>
 * <td>ours, or without an owner and with an equal fingerprint: DONE; else rejected</td>
 * <td>without an owner: accepted, nothing changes; else as with a valid lease</td>
 * <td>ours: longer lease; else rejected</td>
 * </tr>
 * <tr>
 * <td>COMMITTED; DONE without a stored result when {@code attachWithin} is over</td>
 * <td>KeyReused first, then InProgress, then ResultUnavailable</td>
 * <td>ours: DONE (also after {@code attachWithin}); else rejected</td>
 * <td>rejected</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>DONE; absent when the retention has expired</td>
 * <td>KeyReused first, then Completed or ResultUnavailable</td>
 * <td>same claim id: accepted, nothing changes; else rejected</td>
 * <td>rejected</td>
 * <td>rejected</td>
 * </tr>
 * <tr>
 * <td>ONCE; absent when the retention, which starts with the first claim, has
 * expired</td>
 * <td>ours: Acquired with the same fencing token; else Duplicate, counted</td>
 * <td>rejected</td>
 * <td>ours: absent, a token: ISSUED again; else rejected</td>
 * <td>rejected</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * After the mode of an operation is changed, records of the old mode may still exist. If
 * a {@link ClaimType#ONCE} claim finds the record of a {@link ClaimType#LEASED} claim,
 * the result is Duplicate with two attempts. If a {@link ClaimType#LEASED} claim finds
 * the record of a {@link ClaimType#ONCE} claim, the result is ResultUnavailable.
 * <p>
 * RUNNING never expires while its lease is valid. A completion with zero retention
 * deletes the record, and is accepted if the record is absent. The fencing token of a
 * record never decreases.
 * <p>
 * A store that has a memory limit may remove the result of DONE early, and may remove
 * records of rejected calls, as described in {@link ResultKind}. It never removes any
 * other record early.
 * <p>
 * A method that fails throws {@link IdempotencyStoreException}. Its step may still have
 * been applied, so every method can be repeated. If the request was not sent, and
 * therefore was not applied, the method throws {@link StoreNotReachedException}. If the
 * store cannot read a record, for example a record of a newer version, the method throws
 * {@link UnreadableRecordException}; the record never counts as absent.
 * <p>
 * No method takes longer than the store's timeout, so that a hanging call does not delay
 * the renewal of other claims.
 *
 * @since 0.1.0
 */
public interface IdempotencyStore {

	/**
	 * Claims a key.
	 * @param request the request
	 * @return the result of the claim
	 * @throws IdempotencyStoreException if it is unknown whether the step was applied, or
	 * the store is full
	 */
	ClaimResult claim(ClaimRequest request);

	/**
	 * Completes a claim. The call may be repeated.
	 * @param completion the completion of the claim
	 * @return whether the completion was accepted; a rejection is final and means that
	 * another owner has the claim
	 * @throws IdempotencyStoreException if it is unknown whether the step was applied
	 */
	boolean complete(Completion completion);

	/**
	 * Releases a claim, so that a later call may run. The call may be repeated.
	 * @param key the key
	 * @param claimId the id of the claim
	 * @return whether the release was accepted; a rejection is final and means that the
	 * record belongs to another owner or is completed
	 * @throws IdempotencyStoreException if it is unknown whether the step was applied
	 */
	boolean release(IdempotencyKey key, ClaimId claimId);

	/**
	 * Renews a claim for a whole lease from now.
	 * @param key the key
	 * @param claimId the id of the claim
	 * @param lease the lease
	 * @return whether the renewal was accepted; a rejection is final and means that the
	 * claim is lost
	 * @throws IdempotencyStoreException if it is unknown whether the step was applied
	 */
	boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease);

	/**
	 * Renews several claims for a whole lease from now, each like
	 * {@link #renew(IdempotencyKey, ClaimId, Duration)}. Each renewal is an atomic step;
	 * all renewals together are not atomic. A store that can renew all claims in one
	 * round trip overrides this method. The default renews one claim after the other.
	 * @param renewals the claims, each once
	 * @return the claims whose renewal was rejected; a rejection is final and means that
	 * the claim is lost
	 * @throws IdempotencyStoreException if it is unknown whether every claim was renewed
	 * or rejected; a {@link NotAllRenewedException} contains the remaining claims
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
	 * Issues a token: an absent record becomes ISSUED, any other record is unchanged.
	 * @param token a key for which {@link IdempotencyKey#isToken()}
	 * @param timeToLive how long the token may be used
	 * @return when the token expires, by the store's clock
	 * @throws IdempotencyStoreException if it is unknown whether the step was applied, or
	 * the store is full
	 */
	Instant issue(IdempotencyKey token, Duration timeToLive);

	/**
	 * Reads the result that a claim of type {@link ClaimType#LEASED} would return now. A
	 * read does not claim or change anything and takes at most one round trip. It may use
	 * the connection of the caller's transaction, but does not block or abort that
	 * transaction. It is used only for replays: without a result, the key is claimed. For
	 * keys with a known result, the engine reads before a transaction begins and before
	 * the arguments of an HTTP handler are bound, because a claim is more expensive
	 * there.
	 * <p>
	 * The default returns an empty result. A store that overrides this method finds every
	 * result. The remaining retention may be an estimate by the clock of this JVM.
	 * @param key the key
	 * @param fingerprint the fingerprint that the claim would have
	 * @return the result of the claim; empty if the claim would not return a stored
	 * result, or if no result was found
	 * @throws IdempotencyStoreException if the store could not be read
	 */
	default Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return Optional.empty();
	}

	/**
	 * Returns a store that participates in the caller's database transaction. Its methods
	 * throw {@link NoTransactionToJoinException} if the calling thread has no transaction
	 * of this store.
	 * @return the joining store, empty for a store without transactions
	 */
	default Optional<IdempotencyStore> joining() {
		return Optional.empty();
	}

	/**
	 * Returns the operations for operators. A store that delegates to another store
	 * returns the operations of that store.
	 * @return the operations, empty for a store without lookups
	 */
	default Optional<RecordAdmin> admin() {
		return Optional.empty();
	}

	/**
	 * Returns the type of this store for metrics, for example {@code redis}, {@code jdbc}
	 * or {@code memory}. A decorator returns the type of its delegate. The default is
	 * derived from the class name: the type of {@code DynamoIdempotencyStore} is
	 * {@code dynamo}.
	 * @return the type, the same for each call
	 */
	default String type() {
		// Proxies append a suffix after these characters at runtime.
		String name = getClass().getSimpleName().split("\\$\\$")[0].replaceFirst("(Idempotency)?Store$", "");
		String type = name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
		return type.isEmpty() ? "custom" : type;
	}

}
