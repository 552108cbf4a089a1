package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.key.CallerId;
import io.idempotency.key.Namespace.KeyParts;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import org.jspecify.annotations.Nullable;

/**
 * Administers the records of one namespace in a store.
 */
final class StoreIdempotencyAdmin implements IdempotencyAdmin {

	private static final int MAX_LIMIT = 1000;

	/**
	 * The largest number of steps for one page, so that the search for an operation with
	 * few records in a large store ends.
	 */
	private static final int MAX_STEPS = 100;

	private final IdempotencyStore store;

	private final Function<String, IdempotencyStore> stores;

	private final Namespace namespace;

	/**
	 * Creates an admin.
	 * @param stores finds stores by name
	 * @param namespace the namespace of the records
	 */
	StoreIdempotencyAdmin(IdempotencyStore store, Function<String, IdempotencyStore> stores, Namespace namespace) {
		this.store = store;
		this.stores = stores;
		this.namespace = namespace;
	}

	@Override
	public Optional<IdempotencyRecord> find(String operation, IdempotencyCaller caller, Object... key) {
		List<String> parts = KeyParts.of(Arrays.asList(key));
		if (parts.isEmpty()) {
			throw new IllegalArgumentException("The key must have at least one part, and no part may be empty");
		}
		return find(RecordKey.of(this.namespace.key(operation, caller, parts)));
	}

	@Override
	public Optional<IdempotencyRecord> findById(String operation, String id) {
		return find(at(operation, id));
	}

	private Optional<IdempotencyRecord> find(RecordKey key) {
		return ask((records) -> records.find(key)).map(this::named);
	}

	private RecordKey at(String operation, String id) {
		return new RecordKey(this.namespace.label(operation), id);
	}

	private IdempotencyRecord named(IdempotencyRecord record) {
		return record.withOperation(this.namespace.operation(record.operation()));
	}

	@Override
	public IdempotencyRecordPage list(String operation, @Nullable String cursor, int limit) {
		if (limit < 1 || limit > MAX_LIMIT) {
			throw new IllegalArgumentException("limit must be 1 to " + MAX_LIMIT + ", not " + limit);
		}
		RecordSelection selection = RecordSelection.ofOperation(this.namespace.label(operation), operation);
		List<IdempotencyRecord> records = new ArrayList<>();
		@Nullable String next = cursor;
		int count = limit;
		for (int step = 0; step < MAX_STEPS; step++) {
			IdempotencyRecordPage page = scan(selection, next, count);
			page.records().forEach((record) -> records.add(named(record)));
			next = page.cursor();
			if (next == null || records.size() >= limit) {
				break;
			}
			// If the operation has few records, larger steps need fewer round trips.
			count = page.records().isEmpty() ? Math.min(2 * count, MAX_LIMIT) : count;
		}
		return new IdempotencyRecordPage(records, next);
	}

	private IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		return ask((records) -> records.scan(selection, cursor, count));
	}

	@Override
	public IdempotencyEviction evict(String operation, String id, boolean force) {
		return evict(at(operation, id), force);
	}

	@Override
	public IdempotencyEviction erase(IdempotencyCaller caller, boolean force) {
		CallerId id = this.namespace.idOf(caller);
		if (!id.isOneCaller()) {
			throw new IllegalArgumentException("Records of anonymous callers cannot be erased by caller");
		}
		RecordSelection selection = RecordSelection.ofCaller(id);
		long evicted = 0;
		long running = 0;
		@Nullable String cursor = null;
		do {
			IdempotencyRecordPage page = scan(selection, cursor, MAX_LIMIT);
			for (IdempotencyRecord record : page.records()) {
				IdempotencyEviction eviction = evict(new RecordKey(record.operation(), record.id()), force);
				evicted += eviction.evicted();
				running += eviction.running();
			}
			cursor = page.cursor();
		}
		while (cursor != null);
		return new IdempotencyEviction(evicted, running);
	}

	private IdempotencyEviction evict(RecordKey key, boolean force) {
		RecordAdmin.Eviction eviction = ask((records) -> records.evict(key, force));
		return new IdempotencyEviction((eviction == RecordAdmin.Eviction.EVICTED) ? 1 : 0,
				(eviction == RecordAdmin.Eviction.RUNNING) ? 1 : 0);
	}

	@Override
	public String callerId(IdempotencyCaller caller) {
		return this.namespace.idOf(caller).toString();
	}

	@Override
	public IdempotencyAdmin store(String name) {
		return new StoreIdempotencyAdmin(this.stores.apply(name), this.stores, this.namespace);
	}

	private <T> T ask(Function<RecordAdmin, T> question) {
		RecordAdmin records = this.store.admin()
			.orElseThrow(() -> new UnsupportedOperationException("Store " + this.store.getClass().getName()
					+ " does not support record lookup: its admin() method returns an empty Optional"));
		try {
			return question.apply(records);
		}
		catch (IdempotencyStoreException ex) {
			throw IdempotencyStoreUnavailableException.notExecuted("admin", Duration.ofSeconds(1), ex);
		}
	}

}
