package io.idempotency.interceptor;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BiFunction;

import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The traits of a method, merged from those that each {@link InvocationAdapter} knows.
 *
 * @param flags the boolean traits of the method
 * @param defaultKey the key source of a method whose annotation has none
 * @param keyAdvice the action in the startup error of a method that has no key source
 * @param messageTypes the names of parameter types whose payload is compared, and only if
 * no other argument is compared
 * @param suppliedTypes the names of parameter types that the container supplies, and that
 * are not compared
 * @param transactions returns the reactive transactions that the record of a method
 * joins, {@code null} for those of the calling thread
 * @hidden
 */
@Internal
public record OperationTraits(Set<Flag> flags, @Nullable KeySource defaultKey, @Nullable String keyAdvice,
		Set<String> messageTypes, Set<String> suppliedTypes,
		@Nullable BiFunction<ResultForm, IdempotencyStore, @Nullable WorkTransactions> transactions) {

	/** The traits of a method that is unknown to an adapter. */
	public static final OperationTraits NONE = of();

	public static OperationTraits of(Flag... flags) {
		return new OperationTraits(Set.of(flags), null, null, Set.of(), Set.of(), null);
	}

	public boolean has(Flag flag) {
		return this.flags.contains(flag);
	}

	/** Returns whether an adapter compares the request of a call. */
	public boolean comparesRequest() {
		return has(Flag.HANDLER) || has(Flag.REQUEST);
	}

	/** Returns whether calls have headers or a body without an HTTP request. */
	public boolean suppliesKeys() {
		return has(Flag.KEYS) || this.defaultKey != null;
	}

	/** Returns whether a call can be claimed when its result is subscribed to. */
	boolean isSubscribed() {
		return has(Flag.SUBSCRIBED) && !comparesRequest() && !suppliesKeys();
	}

	/**
	 * Returns the merged traits. If both have a value, the value of this record is used.
	 */
	OperationTraits merge(OperationTraits other) {
		return new OperationTraits(union(this.flags, other.flags),
				(this.defaultKey != null) ? this.defaultKey : other.defaultKey,
				(this.keyAdvice != null) ? this.keyAdvice : other.keyAdvice,
				union(this.messageTypes, other.messageTypes), union(this.suppliedTypes, other.suppliedTypes),
				(this.transactions != null) ? this.transactions : other.transactions);
	}

	private static <T> Set<T> union(Set<T> one, Set<T> other) {
		Set<T> all = new HashSet<>(one);
		all.addAll(other);
		return all;
	}

	public OperationTraits withDefaultKey(KeySource source) {
		return new OperationTraits(this.flags, source, this.keyAdvice, this.messageTypes, this.suppliedTypes,
				this.transactions);
	}

	public OperationTraits withKeyAdvice(String advice) {
		return new OperationTraits(this.flags, this.defaultKey, advice, this.messageTypes, this.suppliedTypes,
				this.transactions);
	}

	public OperationTraits withArguments(Set<String> messages, Set<String> supplied) {
		return new OperationTraits(this.flags, this.defaultKey, this.keyAdvice, messages, supplied, this.transactions);
	}

	public OperationTraits withTransactions(
			BiFunction<ResultForm, IdempotencyStore, @Nullable WorkTransactions> finder) {
		return new OperationTraits(this.flags, this.defaultKey, this.keyAdvice, this.messageTypes, this.suppliedTypes,
				finder);
	}

	/**
	 * A boolean trait of a method.
	 *
	 * @hidden
	 */
	public enum Flag {

		/**
		 * The method handles requests. Its key may come from the request, and its result
		 * may have any type.
		 */
		HANDLER,

		/** The adapter compares the request of a call whose result is a value. */
		REQUEST,

		/** The annotation of the class does not guard this handler. */
		EXEMPT_FROM_CLASS,

		/** Calls have headers or a body, such as those of a message. */
		KEYS,

		/**
		 * A duplicate waits for the first call unless the annotation has another conflict
		 * mode.
		 */
		WAITS,

		/** Each bean has its own keys, such as those of its queue. */
		BEAN_KEYS,

		/** A call can be claimed when its result is subscribed to. */
		SUBSCRIBED

	}

}
