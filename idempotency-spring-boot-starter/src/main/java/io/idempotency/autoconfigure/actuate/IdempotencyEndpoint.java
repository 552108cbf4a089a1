package io.idempotency.autoconfigure.actuate;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.OperationCoverage;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
// Spring Boot 3 recognizes an optional parameter only by this annotation; Spring Boot 4
// accepts any annotation of this name.
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

	private final Supplier<Collection<IdempotentOperation>> operations;

	private final Supplier<List<OperationCoverage.Entry>> coverage;

	/**
	 * Creates the endpoint.
	 * @param admin looks up records
	 * @param catalogs supply the operations of the application
	 * @param coverage lists which operations are guarded
	 */
	public IdempotencyEndpoint(IdempotencyAdmin admin, ObjectProvider<OperationCatalog> catalogs,
			ObjectProvider<OperationCoverage> coverage) {
		this.admin = admin;
		this.coverage = () -> coverage.stream().flatMap((each) -> each.entries().stream()).toList();
		this.operations = () -> catalogs.stream().flatMap((each) -> each.operations().stream()).toList();
	}

	/**
	 * Lists the operations; lists the records of one operation; or finds the record of
	 * one key of it.
	 * @param operation name of the operation, {@code null} for a list of all operations
	 * @param key the key to find, a list if it has several parts, {@code null} for a list
	 * of records
	 * @param principal the name of the caller of the key; without principal and scope,
	 * the records without a caller and those of the anonymous caller are found
	 * @param issuer the issuer of the caller's token
	 * @param registration the client registration of the caller's login
	 * @param scope the scope that identifies the caller, instead of a principal
	 * @param cursor the cursor of the previous page
	 * @param limit about how many records to list, 1 to 1000, 100 by default
	 * @param store name of another store than the default one
	 * @return {@link OperationsDescriptor}, {@link RecordsDescriptor}, or the reason why
	 * the request fails
	 */
	@ReadOperation
	public Object records(@Nullable String operation, @Nullable Object key, @Nullable String principal,
			@Nullable String issuer, @Nullable String registration, @Nullable String scope, @Nullable String cursor,
			@Nullable Integer limit, @Nullable String store) {
		return answer(() -> {
			if (operation == null && key == null) {
				return OperationsDescriptor.of(this.operations.get(), this.coverage.get());
			}
			String name = required(operation);
			IdempotencyAdmin records = admin(store);
			if (key == null) {
				return RecordsDescriptor.of(page(records, name, cursor, (limit != null) ? limit : DEFAULT_LIMIT));
			}
			IdempotencyCaller caller = caller(principal, issuer, registration, scope);
			List<IdempotencyCaller> callers = (caller != null) ? List.of(caller)
					: List.of(IdempotencyCaller.none(), IdempotencyCaller.anonymous());
			// No list of text: Spring Boot would divide a single key at its commas.
			Object[] parts = (key instanceof Collection<?> several) ? several.toArray() : new Object[] { key };
			List<IdempotencyRecord> found = callers.stream()
				.map((whose) -> records.find(name, whose, parts))
				.flatMap(Optional::stream)
				.toList();
			return RecordsDescriptor.of(new IdempotencyRecordPage(found, null));
		});
	}

	private static IdempotencyRecordPage page(IdempotencyAdmin records, String operation, @Nullable String cursor,
			int limit) {
		try {
			return records.list(operation, cursor, limit);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("The cursor or the limit is invalid: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Finds a record by its id.
	 * @param id the id of the record
	 * @param operation name of the operation
	 * @param store name of another store than the default one
	 * @return {@link RecordDescriptor}, or the reason why the record was not found
	 */
	@ReadOperation
	public Object record(@Selector String id, @Nullable String operation, @Nullable String store) {
		return answer(() -> {
			Optional<IdempotencyRecord> found = admin(store).findById(required(operation), id);
			return found.isPresent() ? RecordDescriptor.of(found.get()) : rejection(
					WebEndpointResponse.STATUS_NOT_FOUND, "The store has no record with this id for this operation");
		});
	}

	static String required(@Nullable String operation) {
		if (operation == null) {
			throw new IllegalArgumentException(
					"Add the parameter operation=name. Call the endpoint without parameters to list the operation "
							+ "names");
		}
		return operation;
	}

	IdempotencyAdmin admin(@Nullable String store) {
		return (store != null) ? this.admin.store(store) : this.admin;
	}

	/**
	 * Responds to a request. The reason for a rejection is a dedicated body, because the
	 * error page of an application hides it by default.
	 */
	static Object answer(Supplier<Object> operation) {
		try {
			return operation.get();
		}
		catch (IllegalArgumentException | UnsupportedOperationException ex) {
			return rejection(WebEndpointResponse.STATUS_BAD_REQUEST, String.valueOf(ex.getMessage()));
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return rejection(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					"The store is unavailable. See the application log. A removal may be incomplete");
		}
	}

	private static WebEndpointResponse<Rejection> rejection(int status, String reason) {
		return new WebEndpointResponse<>(new Rejection(reason), status);
	}

	/**
	 * Returns the caller that the parameters describe, {@code null} without such
	 * parameters.
	 */
	static @Nullable IdempotencyCaller caller(@Nullable String principal, @Nullable String issuer,
			@Nullable String registration, @Nullable String scope) {
		if (principal == null) {
			if (issuer != null || registration != null) {
				throw new IllegalArgumentException("An issuer or a registration requires a principal");
			}
			return (scope != null) ? IdempotencyCaller.scope(scope) : null;
		}
		if (scope != null || (issuer != null && registration != null)) {
			throw new IllegalArgumentException(
					"A caller is either a principal, optionally with an issuer or a registration, or a scope");
		}
		IdempotencyCaller caller = IdempotencyCaller.principal(principal);
		if (issuer != null) {
			return caller.issuedBy(issuer);
		}
		return (registration != null) ? caller.registeredWith(registration) : caller;
	}

	/**
	 * Why a request is not answered.
	 *
	 * @param reason the reason, in a sentence
	 */
	public record Rejection(String reason) implements OperationResponseBody {
	}

	/**
	 * The operations of the application.
	 *
	 * @param operations the operations of guarded methods and routes, sorted by name
	 * @param coverage which operations of the application are guarded, sorted by name
	 */
	public record OperationsDescriptor(List<OperationDescriptor> operations,
			List<OperationCoverage.Entry> coverage) implements OperationResponseBody {

		static OperationsDescriptor of(Collection<IdempotentOperation> operations,
				List<OperationCoverage.Entry> coverage) {
			return new OperationsDescriptor(operations.stream()
				.map((operation) -> new OperationDescriptor(operation.name(), operation.options().mode(),
						place(operation.key().source())))
				.distinct()
				.sorted(Comparator.comparing(OperationDescriptor::name))
				.toList(), coverage);
		}

		private static String place(KeySource source) {
			if (source instanceof KeySource.Header header) {
				return "header " + header.name();
			}
			return (source instanceof KeySource.Body body) ? "body " + body.pointer() : "expression";
		}

	}

	/**
	 * One operation.
	 *
	 * @param name the name
	 * @param mode the handling of duplicates
	 * @param key the source of the key
	 */
	public record OperationDescriptor(String name, IdempotencyMode mode, String key) {
	}

	/**
	 * A page of records as the endpoint describes it.
	 *
	 * @param records the records
	 * @param cursor where the next page begins; absent on the last page
	 */
	public record RecordsDescriptor(List<RecordDescriptor> records,
			@Nullable String cursor) implements OperationResponseBody {

		static RecordsDescriptor of(IdempotencyRecordPage page) {
			return new RecordsDescriptor(page.records().stream().map(RecordDescriptor::of).toList(), page.cursor());
		}

	}

	/**
	 * One record as the endpoint describes it. Times are text, so that their format does
	 * not depend on the mapper.
	 *
	 * @param operation name of the operation
	 * @param id the id of the record
	 * @param callerId the id that all records of the caller contain
	 * @param state the state
	 * @param claimedAt when the key was claimed last, ISO-8601
	 * @param leaseRest the remaining lease, ISO-8601
	 * @param retentionRest the remaining retention, ISO-8601
	 * @param attempts how many calls came with the key, only in mode REJECT
	 * @param node the node that made the last claim of the key
	 * @param traceId the id of the trace in which the last claim was made
	 */
	public record RecordDescriptor(String operation, String id, String callerId, String state,
			@Nullable String claimedAt, String leaseRest, String retentionRest, @Nullable Long attempts,
			@Nullable String node, @Nullable String traceId) implements OperationResponseBody {

		static RecordDescriptor of(IdempotencyRecord record) {
			return new RecordDescriptor(record.operation(), record.id(), record.callerId(), record.state().name(),
					(record.claimedAt() != null) ? record.claimedAt().truncatedTo(ChronoUnit.MILLIS).toString() : null,
					text(record.leaseRest()), text(record.retentionRest()),
					(record.attempts() > 0) ? record.attempts() : null, record.node(), record.traceId());
		}

		private static String text(Duration duration) {
			return duration.truncatedTo(ChronoUnit.MILLIS).toString();
		}

	}

}
