package io.idempotency.it.jdbc;

import java.util.List;

import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.RaceContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/**
 * The races on databases, at stricter isolations than their own. With fewer keys: what
 * goes wrong goes wrong soon.
 */
@Nightly
@EachDatabase(having = Product.Trait.SERVER)
@StoreAlone
class JdbcStrictRaceTests {

	@Nested
	class RepeatableRead extends Races {

		RepeatableRead(TestDatabase database) {
			super(database, "TRANSACTION_REPEATABLE_READ");
		}

	}

	@Nested
	class Serializable extends Races {

		Serializable(TestDatabase database) {
			super(database, "TRANSACTION_SERIALIZABLE");
		}

	}

	abstract static class Races extends RaceContract {

		private final List<JdbcNode> nodes;

		Races(TestDatabase database, String isolation) {
			this.nodes = List.of(connect(database, isolation), connect(database, isolation));
		}

		private static JdbcNode connect(TestDatabase database, String isolation) {
			return new JdbcNode(database.newPool(8, (config) -> config.setTransactionIsolation(isolation)));
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
			return 250;
		}

	}

}
