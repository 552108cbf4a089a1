package io.idempotency.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredResult;

/**
 * Converts the operations of a store to the arguments of scripts, for blocking and
 * non-blocking callers.
 */
final class ScriptComposer {

	private static final byte[] NOTHING = new byte[0];

	private final RedisKeyspace keyspace;

	ScriptComposer(RedisKeyspace keyspace) {
		this.keyspace = keyspace;
	}

	/** A usual claim has no more arguments than it needs. */
	Step<byte[], ClaimResult> claim(ClaimRequest request) {
		IdempotencyKey key = request.key();
		byte[] id = RedisValues.of(request.claimId());
		byte[] named = RedisValues.named(request.fingerprint().toBytes(),
				RedisValues.ascii(request.origin().toString()));
		long lease = RedisValues.micros(request.lease());
		long retention = RedisValues.micros(request.retention());
		byte[] millis = RedisValues.millis(Math.max(lease, retention));
		byte[] takeOver = RedisValues.of(request.takeOver());
		boolean once = request.type() == ClaimType.ONCE;
		return new Step<>(RedisScript.CLAIM, (once || key.isToken())
				? keyAndArguments(key, id, named, RedisValues.of(lease), RedisValues.of(retention), millis, takeOver,
						RedisValues.of(once), RedisValues.of(key.isToken()))
				: keyAndArguments(key, id, named, RedisValues.of(lease), RedisValues.of(retention), millis, takeOver),
				(reply) -> RedisReplies.claim(request, reply));
	}

	Step<Long, Boolean> complete(Completion completion) {
		Claim claim = completion.claim();
		StoredResult result = completion.result();
		byte[] id = RedisValues.of(claim.id());
		byte[] state = RedisValues.of(completion.type());
		long retention = RedisValues.micros(completion.retention());
		byte[] millis = RedisValues.millis(retention);
		byte[] body = (result != null) ? result.bytes() : NOTHING;
		byte[] late = RedisValues.of(claim.fencingToken(), completion.fingerprint().toBytes());
		return new Step<>(RedisScript.COMPLETE,
				(completion.type() == Completion.Type.COMMITTED)
						? keyAndArguments(claim.key(), id, state, RedisValues.of(retention), millis, NOTHING, NOTHING,
								late, RedisValues.of(completion.attachWithin()))
						: keyAndArguments(claim.key(), id, state, RedisValues.of(retention), millis,
								RedisValues.format(result), body, late),
				ScriptComposer::isAccepted);
	}

	Step<Long, Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return new Step<>(RedisScript.RELEASE, keyAndArguments(key, RedisValues.of(claimId)),
				ScriptComposer::isAccepted);
	}

	Step<Long, Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return new Step<>(RedisScript.RENEW, keyAndArguments(key, RedisValues.of(claimId), RedisValues.of(lease)),
				ScriptComposer::isAccepted);
	}

	List<byte[][]> renewAll(Collection<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> renew(renewal.key(), renewal.claimId(), renewal.lease()).keyAndArguments())
			.toList();
	}

	/**
	 * Returns the claims that were rejected.
	 * @param replies in the order of the renewals
	 */
	static Set<ClaimId> rejected(List<Renewal> renewals, List<Long> replies) {
		return IntStream.range(0, replies.size())
			.filter((i) -> !isAccepted(replies.get(i)))
			.mapToObj((i) -> renewals.get(i).claimId())
			.collect(Collectors.toSet());
	}

	Step<Long, Instant> issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return new Step<>(RedisScript.ISSUE, keyAndArguments(token, RedisValues.of(timeToLive)),
				(expiresAt) -> Instant.EPOCH.plus(expiresAt, ChronoUnit.MICROS));
	}

	byte[] key(IdempotencyKey key) {
		return this.keyspace.key(key);
	}

	private static boolean isAccepted(Long reply) {
		return reply == 1;
	}

	private byte[][] keyAndArguments(IdempotencyKey key, byte[]... arguments) {
		byte[][] keyAndArguments = new byte[arguments.length + 1][];
		keyAndArguments[0] = this.keyspace.key(key);
		System.arraycopy(arguments, 0, keyAndArguments, 1, arguments.length);
		return keyAndArguments;
	}

	/**
	 * One operation for one key.
	 *
	 * @param <R> the Java type of the operation's reply
	 * @param <T> the type of the result
	 * @param keyAndArguments the key, then the arguments
	 * @param answer reads the reply
	 */
	record Step<R, T>(RedisScript verb, byte[][] keyAndArguments, Function<R, T> answer) {
	}

}
