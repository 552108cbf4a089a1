package io.idempotency.it.jdbc;

import java.util.List;

import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.RaceContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterEach;

/**
 * The races on databases, at the isolation that each has by default. One node uses its
 * product as most do, and the other one in its own way: through another driver, or with
 * other statements.
 */
@EachDatabase(value = { Database.Kind.PRODUCT, Database.Kind.DRIVER, Database.Kind.DIALECT },
		having = Product.Trait.SERVER)
@StoreAlone
class JdbcRaceTests extends RaceContract {

	private final Database type;

	private final List<JdbcNode> nodes;

	JdbcRaceTests(TestDatabase database) {
		this.type = database.type();
		this.nodes = List.of(new JdbcNode(database.plain().pool(8)), database.newNode(8));
	}

	@AfterEach
	void stopNodes() {
		this.nodes.forEach(JdbcNode::close);
	}

	@Override
	protected List<? extends StoreNode<?>> nodes() {
		return this.nodes;
	}

	@Override
	protected int keyCount() {
		return (this.type.kind() != Database.Kind.DIALECT) ? super.keyCount() : 250;
	}

}
