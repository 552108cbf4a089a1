package io.idempotency.autoconfigure.actuate;

import java.security.Principal;
import java.util.function.Supplier;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.OperationCoverage;
import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.lang.Nullable;

/**
 * {@link Endpoint} that also removes records. Each removal is logged with the name of the
 * principal that requested it, even if it fails.
 *
 * @since 0.1.0
 */
@Endpoint(id = "idempotency")
public class WritableIdempotencyEndpoint extends IdempotencyEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(WritableIdempotencyEndpoint.class);

	/**
	 * Creates the endpoint.
	 * @param admin looks up and removes records
	 * @param catalogs supply the operations of the application
	 * @param coverage lists which operations are guarded
	 */
	public WritableIdempotencyEndpoint(IdempotencyAdmin admin, ObjectProvider<OperationCatalog> catalogs,
			ObjectProvider<OperationCoverage> coverage) {
		super(admin, catalogs, coverage);
	}

	/**
	 * Removes one record, so that its key can be used again.
	 * @param security supplies the principal that requests the removal
	 * @param id the id of the record
	 * @param operation name of the operation
	 * @param force whether to remove the record of a call in progress
	 * @param store name of another store than the default one
	 * @return {@link EvictionDescriptor}, or the reason why the request is rejected
	 */
	@DeleteOperation
	public Object evict(SecurityContext security, @Selector String id, @Nullable String operation,
			@Nullable Boolean force, @Nullable String store) {
		boolean forced = Boolean.TRUE.equals(force);
		return answer(() -> {
			String name = required(operation);
			String what = "the idempotency record %s of '%s'%s".formatted(printable(id), printable(name),
					withForce(forced));
			return remove(() -> admin(store).evict(name, id, forced), security, "evict", what);
		});
	}

	/**
	 * Removes all records of one caller.
	 * @param security supplies the principal that requests the removal
	 * @param principal the name of the caller
	 * @param issuer the issuer of the caller's token
	 * @param registration the client registration of the caller's login
	 * @param scope the scope that identifies the caller, instead of a principal
	 * @param callerId the id of the caller in its records, instead of the other
	 * parameters
	 * @param force whether to remove records of calls in progress
	 * @param store name of another store than the default one
	 * @return {@link EvictionDescriptor}, or the reason why the request is rejected
	 */
	@DeleteOperation
	public Object erase(SecurityContext security, @Nullable String principal, @Nullable String issuer,
			@Nullable String registration, @Nullable String scope, @Nullable String callerId, @Nullable Boolean force,
			@Nullable String store) {
		boolean forced = Boolean.TRUE.equals(force);
		return answer(() -> {
			IdempotencyAdmin records = admin(store);
			IdempotencyCaller caller = whom(caller(principal, issuer, registration, scope), callerId);
			// The log shows the id and not the name, because a log outlives the erasure
			// of a name.
			String what = "the idempotency records of the caller " + records.callerId(caller) + withForce(forced);
			return remove(() -> records.erase(caller, forced), security, "erase", what);
		});
	}

	/**
	 * Removes records and logs the principal. A failed removal may have removed some
	 * records. If no record is removed, the operator probably entered another name.
	 */
	private static EvictionDescriptor remove(Supplier<IdempotencyEviction> removal, SecurityContext security,
			String verb, String what) {
		IdempotencyEviction eviction;
		try {
			eviction = removal.get();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			logger.warn("[IDEM-212] {} tried to {} {}, but the store failed: some records may be removed. Check "
					+ "the store and repeat the request.", who(security), verb, what, ex);
			throw ex;
		}
		if (eviction.evicted() > 0) {
			logger.info("{} {} {}: {} removed, {} not removed because their calls are in progress", who(security),
					verb.equals("erase") ? "erased" : "evicted", what, eviction.evicted(), eviction.running());
		}
		else {
			logger.warn("[IDEM-213] {} tried to {} {}, but nothing was removed: {}. Check the id, or use force.",
					who(security), verb, what, (eviction.running() > 0)
							? eviction.running() + " records of calls in progress" : "no record exists");
		}
		return new EvictionDescriptor(eviction.evicted(), eviction.running());
	}

	private static String withForce(boolean forced) {
		return forced ? " with force" : "";
	}

	private static IdempotencyCaller whom(@Nullable IdempotencyCaller caller, @Nullable String callerId) {
		if ((caller == null) == (callerId == null)) {
			throw new IllegalArgumentException("Specify a principal, a scope or a callerId");
		}
		return (caller != null) ? caller : IdempotencyCaller.id(String.valueOf(callerId));
	}

	private static String who(SecurityContext security) {
		Principal principal = security.getPrincipal();
		return (principal != null) ? "'" + printable(String.valueOf(principal.getName())) + "'"
				: "An unidentified user";
	}

	/** Returns the text without characters that could forge a line of the log. */
	private static String printable(String text) {
		return text.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "_");
	}

	/**
	 * The outcome of a removal.
	 *
	 * @param evicted how many records were removed
	 * @param running how many records were left because their calls are in progress
	 */
	public record EvictionDescriptor(long evicted, long running) implements OperationResponseBody {
	}

}
