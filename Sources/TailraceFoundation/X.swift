public import Tailrace
