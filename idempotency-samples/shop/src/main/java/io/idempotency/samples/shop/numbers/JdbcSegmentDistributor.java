package io.idempotency.samples.shop.numbers;

import java.util.Objects;

import me.ahoo.cosid.segment.IdSegmentDistributor;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Allocates numbers in segments of a hundred from a row that only grows. Runs in a
 * separate transaction: if a segment were rolled back with the caller's transaction, it
 * would be allocated twice.
 */
final class JdbcSegmentDistributor implements IdSegmentDistributor {

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final String name;

	private final long step;

	JdbcSegmentDistributor(JdbcClient jdbc, PlatformTransactionManager transactionManager, String name, long step) {
		this.jdbc = jdbc;
		this.transaction = new TransactionTemplate(transactionManager);
		this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.name = name;
		this.step = step;
	}

	@Override
	public String getNamespace() {
		return "shop";
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public long getStep() {
		return this.step;
	}

	@Override
	public long nextMaxId(long step) {
		IdSegmentDistributor.ensureStep(step);
		return Objects.requireNonNull(this.transaction.execute((status) -> {
			// The update locks the row, so that the read sees the updated value.
			this.jdbc.sql("update order_segment set last_max_id = last_max_id + :step where name = :name")
				.param("step", step)
				.param("name", this.name)
				.update();
			return this.jdbc.sql("select last_max_id from order_segment where name = :name")
				.param("name", this.name)
				.query(Long.class)
				.single();
		}));
	}

}
