package io.idempotency.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
// Spring Boot 3 knows an optional parameter by this annotation only; Spring Boot 4 takes
// any annotation of this name.
import org.springframework.lang.Nullable;

/**
 * {@link Endpoint} that shows records to operators: never a key, a caller's name or a
 * result.
 *
 * @since 0.1.0
 */
@Endpoint(id = "idempotency")
public class IdempotencyEndpoint {

	private static final int DEFAULT_LIMIT = 100;

	private final IdempotencyAdmin admin;

	/**
	 * Creates the endpoint.
	 * @param admin looks records up
	 */
	public IdempotencyEndpoint(IdempotencyAdmin admin) {
		this.admin = admin;
	}

	/**
	 * Lists the records of an operation, or finds the record of one key of it.
	 * @param operation name of the operation
	 * @param key the key to find, {@code null} for a list
	 * @param principal the name of the caller whose key it is; without principal and
	 * scope, the records without a caller and those of the anonymous caller are found
	 * @param issuer the issuer of the caller's token
	 * @param registration the client registration of the caller's login
	 * @param scope the scope that is the caller, instead of a principal
	 * @param cursor the cursor of the page before
	 * @param limit about how many records to list, 1 to 1000, 100 by default
	 * @param store name of another store than the default one
	 * @return the records
	 */
	@ReadOperation
	public RecordsDescriptor records(String operation, @Nullable String key, @Nullable String principal,
			@Nullable String issuer, @Nullable String registration, @Nullable String scope, @Nullable String cursor,
			@Nullable Integer limit, @Nullable String store) {
		return answer(() -> {
			IdempotencyAdmin records = admin(store);
			if (key == null) {
				IdempotencyRecordPage page = records.list(operation, cursor, (limit != null) ? limit : DEFAULT_LIMIT);
				return RecordsDescriptor.of(page);
			}
			IdempotencyCaller caller = caller(principal, issuer, registration, scope);
			List<IdempotencyCaller> callers = (caller != null) ? List.of(caller)
					: List.of(IdempotencyCaller.none(), IdempotencyCaller.anonymous());
			Stream<IdempotencyRecord> found = callers.stream()
				.map((whose) -> records.find(operation, whose, key))
				.flatMap(Optional::stream);
			return RecordsDescriptor.of(new IdempotencyRecordPage(found.toList(), null));
		});
	}

	/**
	 * Finds a record by its id.
	 * @param id the id of the record
	 * @param operation name of the operation
	 * @param store name of another store than the default one
	 * @return the record, {@code null} if there is none
	 */
	@ReadOperation
	@Nullable
	public RecordDescriptor record(@Selector String id, String operation, @Nullable String store) {
		return answer(() -> admin(store).findById(operation, id)).map(RecordDescriptor::of).orElse(null);
	}

	IdempotencyAdmin admin(@Nullable String store) {
		return (store != null) ? this.admin.store(store) : this.admin;
	}

	/**
	 * Answers a request.
	 * @throws InvalidEndpointRequestException if the request cannot be answered, with the
	 * reason
	 */
	static <T> T answer(Supplier<T> operation) {
		try {
			return operation.get();
		}
		catch (IllegalArgumentException | UnsupportedOperationException ex) {
			String reason = String.valueOf(ex.getMessage());
			throw new InvalidEndpointRequestException(reason, reason);
		}
	}

	/**
	 * Returns the caller that the parameters describe, {@code null} if they describe
	 * none.
	 */
	static @Nullable IdempotencyCaller caller(@Nullable String principal, @Nullable String issuer,
			@Nullable String registration, @Nullable String scope) {
		if (principal == null) {
			if (issuer != null || registration != null) {
				throw new IllegalArgumentException("An issuer or a registration needs a principal");
			}
			return (scope != null) ? IdempotencyCaller.scope(scope) : null;
		}
		if (scope != null || (issuer != null && registration != null)) {
			throw new IllegalArgumentException(
					"A caller is a principal, with an issuer or a registration if need be, or a scope");
		}
		IdempotencyCaller caller = IdempotencyCaller.principal(principal);
		if (issuer != null) {
			return caller.issuedBy(issuer);
		}
		return (registration != null) ? caller.registeredWith(registration) : caller;
	}

}
